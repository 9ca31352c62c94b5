"""Starts ministack with the resource types of our templates that its CloudFormation lacks.

Each is kept in the emulator's own EC2, by the functions that serve its API: what a template asks for is there
afterwards, and gone when its stack goes. Nothing of the emulator is changed.
"""

import datetime
import json
import os
import re
import uuid

from ministack.app import main
from ministack.services import ec2, eventbridge, lambda_svc, rds, secretsmanager, stepfunctions
from ministack.services.cloudformation import provisioners


def flow_log_create(logical_id, props, stack_name):
    before = set(ec2._flow_logs.keys())
    call(ec2._create_flow_logs, {
        "ResourceId.1": props["ResourceId"],
        "ResourceType": props["ResourceType"],
        "TrafficType": props["TrafficType"],
        "LogDestinationType": props.get("LogDestinationType", "cloud-watch-logs"),
        "LogGroupName": props.get("LogGroupName", ""),
    })
    created = (set(ec2._flow_logs.keys()) - before).pop()
    return created, {"Id": created}


def flow_log_delete(physical_id, props):
    call(ec2._delete_flow_logs, {"FlowLogId.1": physical_id})


def call(function, params):
    status, _, body = function({key: [value] for key, value in params.items() if value != ""})
    if status >= 400:
        raise ValueError(body)


def rule_create(key):
    def create(logical_id, props, stack_name):
        group = ec2._security_groups.get(props["GroupId"])
        if group is None:
            raise ValueError(f"Security group {props['GroupId']} not found")
        rule = provisioners._ec2_sg_permissions([props])[0]
        group[key].append(rule)
        return f"{props['GroupId']}|{logical_id}", {"Id": ec2._sg_rule_id(props["GroupId"], key.endswith("Egress"), rule)}
    return create


def rule_delete(key):
    def delete(physical_id, props):
        group = ec2._security_groups.get(props["GroupId"])
        rule = provisioners._ec2_sg_permissions([props])[0]
        if group is not None and rule in group[key]:
            group[key].remove(rule)
    return delete


def database_attributes(physical_id, attributes):
    """What the emulator's containers do for it elsewhere: the address of a server, and RDS's secret of the master."""
    instance = rds._instances[physical_id]
    if "MasterUserSecret" not in instance:
        login = {"username": instance["MasterUsername"], "password": os.environ["MASTER_PASSWORD"]}
        arn = secretsmanager.create_secret_in_process(f"rds!db-{uuid.uuid4()}", json.dumps(login))
        host, port = os.environ["DATABASE_ADDRESS"].split(":")
        instance["MasterUserSecret"] = {"SecretArn": arn, "SecretStatus": "active"}
        instance["Endpoint"].update({"Address": host, "Port": int(port)})
    endpoint = instance["Endpoint"]
    return {
        **attributes,
        "MasterUserSecret.SecretArn": instance["MasterUserSecret"]["SecretArn"],
        "Endpoint.Address": endpoint["Address"],
        "Endpoint.Port": str(endpoint["Port"]),
    }


def with_server(handlers):
    def wrapped(make):
        def run(*args, **options):
            physical_id, attributes = make(*args, **options)
            return physical_id, database_attributes(physical_id, attributes)
        return run

    def delete(physical_id, props):
        instance = rds._instances.get(physical_id)
        handlers["delete"](physical_id, props)
        if instance is not None:
            secretsmanager.delete_secret_in_process(instance["MasterUserSecret"]["SecretArn"])
    return {**handlers, "create": wrapped(handlers["create"]), "update": wrapped(handlers["update"]), "delete": delete}


def with_context(invoke):
    """EventBridge Scheduler's context attributes: what stands in a target's input for the time it was due."""
    def run(target, event, *rest):
        if event.get("Source") == "aws.scheduler" and target.get("Input"):
            due = datetime.datetime.fromtimestamp(event["Time"], datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            target = {**target, "Input": target["Input"].replace("<aws.scheduler.scheduled-time>", due)}
        return invoke(target, event, *rest)
    return run


def first_metric(props):
    """An alarm over metric math, as an alarm on the first of its metrics: it is there, and nobody evaluates it."""
    metrics = props.get("Metrics") if isinstance(props, dict) else None
    if not metrics:
        return props
    stat = next(each["MetricStat"] for each in metrics if "MetricStat" in each)
    rest = {key: value for key, value in props.items() if key != "Metrics"}
    return {**rest, **stat["Metric"], "Period": stat["Period"], "Statistic": "Sum"}


def with_first_metric(handlers):
    def wrapped(run):
        return lambda *args, **options: run(*map(first_metric, args), **options)
    return {key: wrapped(value) if callable(value) else value for key, value in handlers.items()}


def with_error_names(execute):
    """The name of what a handler threw, which sandbox.ts puts into the stack."""
    def run(*args):
        result = execute(*args)
        found = re.search(r"sharelock-error-name (\S+)", result.get("log") or "") if result.get("error") else None
        if found is not None:
            result["body"]["errorType"] = found.group(1)
        return result
    return run


def with_redrives(apply_input_path):
    """The number of redrives, which Step Functions has in every execution's context: none has been redriven here."""
    def run(state, data, ctx=None, *rest):
        if ctx:
            ctx.get("Execution", {}).setdefault("RedriveCount", 0)
        return apply_input_path(state, data, ctx, *rest)
    return run


ADDED = {
    "AWS::EC2::FlowLog": {"create": flow_log_create, "delete": flow_log_delete},
    "AWS::EC2::SecurityGroupIngress": {
        "create": rule_create("IpPermissions"), "delete": rule_delete("IpPermissions"),
    },
    "AWS::EC2::SecurityGroupEgress": {
        "create": rule_create("IpPermissionsEgress"), "delete": rule_delete("IpPermissionsEgress"),
    },
}

for name, handlers in ADDED.items():
    provisioners._RESOURCE_HANDLERS.setdefault(name, handlers)
provisioners._RESOURCE_HANDLERS["AWS::RDS::DBInstance"] = with_server(
    provisioners._RESOURCE_HANDLERS["AWS::RDS::DBInstance"]
)
provisioners._RESOURCE_HANDLERS["AWS::CloudWatch::Alarm"] = with_first_metric(
    provisioners._RESOURCE_HANDLERS["AWS::CloudWatch::Alarm"]
)
eventbridge._invoke_target = with_context(eventbridge._invoke_target)
lambda_svc._execute_function_warm = with_error_names(lambda_svc._execute_function_warm)
stepfunctions._apply_input_path = with_redrives(stepfunctions._apply_input_path)

if __name__ == "__main__":
    main()

/*
 * What this run does not show, printed at its end. First what nobody emulates, then what the emulator has in name only,
 * then what was added from outside it, so that a reader knows what stands for what.
 */

export const CANNOT: readonly string[] = [
  'Networks: security groups, endpoints and their policies, subnets and DNS are there and let everything through.',
  'RDS and ElastiCache: their settings (parameter groups, Multi-AZ, failover, backups, versions) are taken and not used.',
  'IAM logins: the doors check host, user, service and age of a token, not its signature nor rds-db:connect.',
  'Key policies, quotas, reserved concurrency beyond a function, memory limits, cold network interfaces, ARM processors.',
  'Alarms: those over metric math exist as an alarm on their first metric; nothing is measured, so none is raised.',
  'E-mail: subscriptions are made and never confirmed.',
  'Deletion protection and retained resources: a stack takes with it what AWS would refuse to delete or keep.',
]

export const ADDED: readonly string[] = [
  'AWS::EC2::FlowLog, SecurityGroupIngress and SecurityGroupEgress, kept in its own EC2',
  "RDS's managed master secret, and the address of a real MySQL server",
  "EventBridge Scheduler's <aws.scheduler.scheduled-time>, Step Functions' RedriveCount, the names of a function's errors",
  "doors in front of MySQL and Valkey: TLS with this run's certificate, IAM tokens, and `identified by` for RDS's plugin",
  "this run's authority among those that the functions trust",
]

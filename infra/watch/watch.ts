import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  TextWidget,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { MetricName } from '../../functions/contract/metrics.ts'
import type { AwsStage } from '../config/config.ts'
import type { AlarmSpec, Watched } from './alarm-spec.ts'
import { alarmTable } from './alarm-table.ts'
import { database, emitted, lockNodes, rowsPerSecond } from './metrics.ts'

const comparison = ({ below }: AlarmSpec): ComparisonOperator =>
  below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD

const whenMissing = ({ missingIsBad }: AlarmSpec): TreatMissingData =>
  missingIsBad === true ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING

export type WatchProps = Watched & { readonly notices: ITopic }

/** The alarms, each with a heading in docs/runbook.md, and one dashboard. */
export class Watch extends Construct {
  constructor(scope: Construct, id: string, { notices, ...watched }: WatchProps) {
    super(scope, id)
    const { alarms } = watched.config
    const told = [notices, ...this.existing('ExistingTopic', alarms.topicArn)]
    const woken = [watched.deployed.pages, ...this.existing('ExistingPageTopic', alarms.page.topicArn)]
    const actionsOf = (topics: readonly ITopic[]) => topics.map((topic) => new SnsAction(topic))
    const [tickets, pages] = [actionsOf(told), actionsOf([...told, ...woken])]
    for (const spec of alarmTable(watched)) this.addAlarm(watched.config, spec, spec.pages ? pages : tickets)
    this.addDashboard(watched)
  }

  private existing(id: string, topicArn: string | undefined): ITopic[] {
    return topicArn === undefined ? [] : [Topic.fromTopicArn(this, id, topicArn)]
  }

  private addAlarm({ stage, alarms }: AwsStage, spec: AlarmSpec, actions: readonly SnsAction[]): void {
    const urgency = spec.pages ? 'Page' : 'Ticket'
    const alarm = new Alarm(this, spec.name, {
      alarmName: `sharelock-${stage}-${spec.name}`,
      alarmDescription: `${urgency}: ${spec.meaning} What to do: ${alarms.runbookUrl}#${spec.heading ?? spec.name}`,
      metric: spec.metric,
      threshold: spec.threshold,
      evaluationPeriods: spec.periods ?? 1,
      comparisonOperator: comparison(spec),
      treatMissingData: whenMissing(spec),
    })
    alarm.addAlarmAction(...actions)
    alarm.addOkAction(...actions)
  }

  private addDashboard({ config: { stage, alarms }, deployed, jobMachine }: Watched): void {
    const sum = (...names: MetricName[]) => names.map((name) => emitted(stage, name, 'Sum'))
    const largest = (...names: MetricName[]) => names.map((name) => emitted(stage, name, 'Maximum'))
    const graph = (title: string, left: IMetric[], right: IMetric[] = []): IWidget =>
      new GraphWidget({ title, left, right, width: 8 })
    new Dashboard(this, 'Dashboard', {
      dashboardName: `sharelock-${stage}`,
      widgets: [
        [
          new TextWidget({
            markdown: `# Sharelock ${stage}\n[What an alarm means](${alarms.runbookUrl})`,
            width: 24,
            height: 2,
          }),
        ],
        [
          graph('Jobs', [...largest('job.open', 'job.open.halted'), ...sum('job.halted')]),
          graph('Rows per second', [rowsPerSecond(stage)], largest('chunk.duration')),
          graph('Executions', [jobMachine.metricStarted(), jobMachine.metricSucceeded(), jobMachine.metricFailed()]),
        ],
        [
          graph('Lock', sum('lock.acquire.success', 'lock.acquire.failure', 'lock.retry.count'), [
            emitted(stage, 'lock.acquire.latency', 'p99'),
          ]),
          graph('Refused and failed', sum('fence.rejected', 'lock.renew.failure', 'lock.unlock.failure')),
          graph(
            'Outbox and month',
            largest('outbox.age'),
            largest('outbox.refused', 'month.missing', 'month.left', 'month.overdue'),
          ),
        ],
        [
          graph(
            'Database',
            [database(deployed, 'CPUUtilization', 'Average')],
            [database(deployed, 'DatabaseConnections', 'Maximum')],
          ),
          graph(
            'Database storage and writes',
            [database(deployed, 'FreeStorageSpace', 'Minimum')],
            [database(deployed, 'WriteIOPS', 'Average')],
          ),
          graph('Valkey', lockNodes(deployed, 'EngineCPUUtilization', 'Average'), [
            ...lockNodes(deployed, 'DatabaseMemoryUsagePercentage', 'Maximum'),
            ...lockNodes(deployed, 'Evictions', 'Sum'),
          ]),
        ],
      ],
    })
  }
}

import { RemovalPolicy } from 'aws-cdk-lib'
import {
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  IpAddresses,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { AwsStage } from '../config/config.ts'

const HTTPS = Port.tcp(443)

/** The interface endpoints that the functions' calls need; S3 goes through its gateway. */
const INTERFACES = {
  Sns: InterfaceVpcEndpointAwsService.SNS,
  SecretsManager: InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
} as const

/** The endpoints; absent where an existing VPC has its own. The owner of the resources narrows their policies. */
export type Endpoints = {
  readonly s3: GatewayVpcEndpoint
  readonly sns: InterfaceVpcEndpoint
  readonly secretsManager: InterfaceVpcEndpoint
}

/**
 * Isolated subnets: no NAT and no way to the internet, so the only services a function reaches are the stores and those
 * with an endpoint. All functions share one security group, which keeps their network interfaces alive through the
 * sweeper's calls: the monthly run then finds them awake.
 */
export class Network extends Construct {
  readonly vpc: IVpc
  readonly subnets: readonly ISubnet[]
  readonly functionsGroup: SecurityGroup
  readonly endpoints: Endpoints | undefined

  constructor(scope: Construct, id: string, { network, logRetentionDays }: AwsStage) {
    super(scope, id)
    this.vpc = (
      network.kind === 'new'
        ? new Vpc(this, 'Vpc', {
            ipAddresses: IpAddresses.cidr(network.cidr),
            availabilityZones: network.zones,
            natGateways: 0,
            subnetConfiguration: [{ name: 'isolated', subnetType: SubnetType.PRIVATE_ISOLATED }],
            restrictDefaultSecurityGroup: false,
          })
        : Vpc.fromVpcAttributes(this, 'Vpc', {
            vpcId: network.vpcId,
            availabilityZones: network.zones,
            isolatedSubnetIds: network.subnetIds,
            isolatedSubnetRouteTableIds: network.routeTableIds,
          })
    ) as IVpc
    this.subnets = this.vpc.isolatedSubnets
    this.functionsGroup = new SecurityGroup(this, 'FunctionsGroup', {
      vpc: this.vpc,
      description: 'Sharelock functions: to the stores and the endpoints',
      allowAllOutbound: false,
    })
    // The S3 gateway has public addresses. There is no other route out of the subnets, so this opens nothing else.
    this.functionsGroup.addEgressRule(Peer.anyIpv4(), HTTPS, 'S3 gateway and interface endpoints')
    if (network.kind === 'new') this.logRefused(logRetentionDays)
    this.endpoints = network.kind === 'new' || network.endpoints ? this.addEndpoints() : undefined
  }

  private addEndpoints(): Endpoints {
    const group = new SecurityGroup(this, 'EndpointsGroup', {
      vpc: this.vpc,
      description: 'Sharelock endpoints: from the functions only',
      allowAllOutbound: false,
    })
    group.addIngressRule(this.functionsGroup, HTTPS, 'functions')
    const create = (name: keyof typeof INTERFACES) =>
      new InterfaceVpcEndpoint(this, name, {
        vpc: this.vpc,
        service: INTERFACES[name],
        // One zone: the outbox absorbs its outage and a deployment can wait, for half the price.
        subnets: { subnets: this.subnets.slice(0, 1) },
        securityGroups: [group],
        open: false,
      })
    const s3 = new GatewayVpcEndpoint(this, 'S3', {
      vpc: this.vpc,
      service: GatewayVpcEndpointAwsService.S3,
      subnets: [{ subnets: [...this.subnets] }],
    })
    return { s3, sns: create('Sns'), secretsManager: create('SecretsManager') }
  }

  /** Only what was refused: it says who tried, and costs next to nothing. */
  private logRefused(retention: RetentionDays): void {
    this.vpc.addFlowLog('Refused', {
      trafficType: FlowLogTrafficType.REJECT,
      destination: FlowLogDestination.toCloudWatchLogs(
        new LogGroup(this, 'RefusedLog', { retention, removalPolicy: RemovalPolicy.DESTROY }),
      ),
    })
  }
}

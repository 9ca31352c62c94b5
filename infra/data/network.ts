import { Fn, RemovalPolicy } from 'aws-cdk-lib'
import {
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  type IInterfaceVpcEndpointService,
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
import type { NetworkSettings } from '../config/network.ts'

const HTTPS = Port.tcp(443)

type Wanted = Extract<NetworkSettings, { kind: 'existing' }>['endpoints']

/** The endpoints of our own; absent where an existing VPC has a way of its own. Their owner narrows their policies. */
export type Endpoints = {
  readonly s3?: GatewayVpcEndpoint | InterfaceVpcEndpoint
  readonly sns?: InterfaceVpcEndpoint
  readonly secretsManager?: InterfaceVpcEndpoint
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
  readonly endpoints: Endpoints
  /** Where the functions find services whose names lead elsewhere in this VPC; read by the AWS SDK. */
  readonly environment: Readonly<Record<string, string>>
  private readonly hasOwnVpc: boolean

  constructor(scope: Construct, id: string, { network, logRetentionDays }: AwsStage) {
    super(scope, id)
    this.hasOwnVpc = network.kind === 'new'
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
    const wanted =
      network.kind === 'new' ? ({ s3: 'gateway', sns: 'own', secretsManager: 'own' } as const) : network.endpoints
    this.endpoints = this.addEndpoints(wanted)
    this.environment = this.hasOwnVpc ? {} : urlsOf(this.endpoints)
  }

  private addEndpoints({ s3, sns, secretsManager }: Wanted): Endpoints {
    return {
      ...(s3 === 'gateway' ? { s3: this.addGateway() } : {}),
      ...(s3 === 'own' ? { s3: this.addInterface('S3Interface', InterfaceVpcEndpointAwsService.S3) } : {}),
      ...(sns === 'own' ? { sns: this.addInterface('Sns', InterfaceVpcEndpointAwsService.SNS) } : {}),
      ...(secretsManager === 'own'
        ? { secretsManager: this.addInterface('SecretsManager', InterfaceVpcEndpointAwsService.SECRETS_MANAGER) }
        : {}),
    }
  }

  private addGateway(): GatewayVpcEndpoint {
    return new GatewayVpcEndpoint(this, 'S3', {
      vpc: this.vpc,
      service: GatewayVpcEndpointAwsService.S3,
      subnets: [{ subnets: [...this.subnets] }],
    })
  }

  private addInterface(name: string, service: IInterfaceVpcEndpointService): InterfaceVpcEndpoint {
    return new InterfaceVpcEndpoint(this, name, {
      vpc: this.vpc,
      service,
      // One zone: the outbox absorbs its outage and a deployment can wait, for half the price.
      subnets: { subnets: this.subnets.slice(0, 1) },
      securityGroups: [this.endpointsGroup()],
      open: false,
      // In somebody's VPC the service's name would lead all other programs here, where they are not let in.
      privateDnsEnabled: this.hasOwnVpc,
    })
  }

  private endpointsGroup(): SecurityGroup {
    const made = this.node.tryFindChild('EndpointsGroup')
    if (made instanceof SecurityGroup) return made
    const group = new SecurityGroup(this, 'EndpointsGroup', {
      vpc: this.vpc,
      description: 'Sharelock endpoints: from the functions only',
      allowAllOutbound: false,
    })
    group.addIngressRule(this.functionsGroup, HTTPS, 'functions')
    return group
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

/** An endpoint's entries are `<zone>:<name>`, the regional name first. */
const hostOf = (endpoint: InterfaceVpcEndpoint): string =>
  Fn.select(1, Fn.split(':', Fn.select(0, endpoint.vpcEndpointDnsEntries)))

/** The endpoints' own names, for they have no others without private DNS. */
const urlsOf = ({ s3, sns, secretsManager }: Endpoints): Record<string, string> => ({
  // S3's name is `*.vpce-...`; with `bucket` in its place it takes the requests on objects.
  ...(s3 instanceof InterfaceVpcEndpoint
    ? { AWS_ENDPOINT_URL_S3: `https://bucket${Fn.select(1, Fn.split('*', hostOf(s3)))}` }
    : {}),
  ...(sns === undefined ? {} : { AWS_ENDPOINT_URL_SNS: `https://${hostOf(sns)}` }),
  ...(secretsManager === undefined ? {} : { AWS_ENDPOINT_URL_SECRETS_MANAGER: `https://${hostOf(secretsManager)}` }),
})

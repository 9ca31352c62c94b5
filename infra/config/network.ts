import { z } from 'zod'
import { id } from './values.ts'

/**
 * The way to one service out of somebody's VPC. `present`: the VPC has one that our functions may use: an endpoint
 * whose security group lets them in, or a NAT. `own`: an interface endpoint for us alone, without private DNS, so that
 * nobody else's calls go through it. `gateway`: a route in the listed tables, for S3 only; see below.
 */
const Service = z.enum(['present', 'own'])

/** Isolated subnets of its own, or somebody's. */
export const NetworkSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('new'),
    cidr: z.string().regex(/^10\.\d{1,3}\.\d{1,3}\.0\/\d{2}$/, 'a private range such as 10.20.0.0/22'),
    /**
     * Given and not looked up, so that synthesis needs no account. The first one also holds the interface endpoints.
     */
    zones: z
      .array(z.string().regex(/^[a-z]{2}-[a-z]+-\d[a-z]$/, 'a zone such as ap-northeast-2a'))
      .min(2)
      .max(3),
  }),
  z
    .strictObject({
      kind: z.literal('existing'),
      vpcId: id('vpc'),
      zones: z.array(z.string()).min(2),
      subnetIds: z.array(id('subnet')).min(2),
      routeTableIds: z.array(id('rtb')).min(1),
      endpoints: z.strictObject({
        /**
         * A gateway costs nothing, but its route holds for everybody who uses these route tables: their requests reach S3
         * from other addresses then. Take it where the subnets are ours alone.
         */
        s3: z.enum(['present', 'own', 'gateway']),
        sns: Service,
        secretsManager: Service,
      }),
    })
    .refine(
      ({ zones, subnetIds, routeTableIds }) =>
        subnetIds.length === routeTableIds.length && subnetIds.length === zones.length,
      {
        message: 'zones, subnetIds and routeTableIds belong together: give as many of each, in the same order',
      },
    ),
])
export type NetworkSettings = z.output<typeof NetworkSettings>

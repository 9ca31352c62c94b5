/** A synthesised CloudFormation template, as far as the local stack reads it. */
type Resource = { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }
export type Template = { readonly Resources: Readonly<Record<string, Resource>> }

export type AwsEnvironment = { readonly region: string; readonly account: string }

/**
 * Evaluates what the CDK writes into the one template of the stage `local`: references and joined texts.
 *
 * @param refOf what a logical id is here
 * @throws Error for any other function of CloudFormation
 */
export const resolve = (value: unknown, refOf: (id: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((inner) => resolve(inner, refOf))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [key, argument] = entries.length === 1 ? (entries[0] ?? []) : []
  if (key === 'Ref') return refOf(String(argument))
  if (key === 'Fn::Join') {
    const [separator, parts] = argument as [string, readonly unknown[]]
    return parts.map((part) => resolve(part, refOf)).join(separator)
  }
  if (key?.startsWith('Fn::')) throw new Error(`The local stack cannot evaluate ${key} in the template`)
  return Object.fromEntries(entries.map(([name, inner]) => [name, resolve(inner, refOf)]))
}

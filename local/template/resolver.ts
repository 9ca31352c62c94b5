/** A synthesised CloudFormation template, as far as the local stack reads it. */
export type Resource = { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }
export type Template = {
  readonly Resources: Readonly<Record<string, Resource>>
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: unknown } }>>
}

export type AwsEnvironment = { readonly region: string; readonly account: string }

type Fields = Readonly<Record<string, unknown>>

/** What a resource would be called here: its reference and its attributes. */
export type Names = (
  logicalId: string,
  resource: Resource,
  resolver: Resolver,
) => { ref: string; arn: string } | undefined

/**
 * Evaluates the intrinsic functions that the CDK writes into templates. A reference to something that does not exist
 * here becomes `local-<logical id>`: only what `names` knows has to be right, and the rest is replaced by the local
 * stack's own addresses.
 */
export class Resolver {
  readonly #templates: readonly Template[]
  readonly #template: Template
  readonly #environment: AwsEnvironment
  readonly #names: Names

  constructor(template: Template, templates: readonly Template[], environment: AwsEnvironment, names: Names) {
    this.#template = template
    this.#templates = templates
    this.#environment = environment
    this.#names = names
  }

  resource(logicalId: string): Resource | undefined {
    return this.#template.Resources[logicalId]
  }

  resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((inner) => this.resolve(inner))
    if (typeof value !== 'object' || value === null) return value
    const [key, argument] = Object.entries(value)[0] ?? []
    if (Object.keys(value).length === 1) {
      if (key === 'Ref') return this.#ref(String(argument))
      if (key?.startsWith('Fn::')) return this.#call(key, argument)
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.resolve(inner)]))
  }

  text(value: unknown): string {
    const resolved = this.resolve(value)
    return typeof resolved === 'string' ? resolved : JSON.stringify(resolved)
  }

  #ref(id: string): string {
    const pseudo: Record<string, string> = {
      'AWS::Region': this.#environment.region,
      'AWS::AccountId': this.#environment.account,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackName': 'local',
      'AWS::StackId': 'local',
      'AWS::NoValue': '',
    }
    return pseudo[id] ?? this.#namesOf(id)?.ref ?? `local-${id}`
  }

  #namesOf(id: string): { ref: string; arn: string } | undefined {
    const resource = this.resource(id)
    return resource === undefined ? undefined : this.#names(id, resource, this)
  }

  #call(name: string, argument: unknown): unknown {
    switch (name) {
      case 'Fn::Join': {
        const [separator, parts] = argument as [string, unknown]
        return (this.resolve(parts) as unknown[]).join(separator)
      }
      case 'Fn::GetAtt': {
        const [id = '', attribute = ''] = typeof argument === 'string' ? argument.split('.') : (argument as string[])
        const known = this.#namesOf(id)
        if (known !== undefined && /Arn$/.test(attribute)) return known.arn
        return known !== undefined && attribute === 'Name' ? known.ref : `local-${id}-${attribute}`
      }
      case 'Fn::Sub': {
        const [text, variables] = typeof argument === 'string' ? [argument, {}] : (argument as [string, Fields])
        return text.replace(/\$\{([\w:.]+)\}/g, (_, id: string) => {
          if (id in variables) return this.text(variables[id])
          return id.includes('.') ? String(this.#call('Fn::GetAtt', id)) : this.#ref(id)
        })
      }
      case 'Fn::Select': {
        const [index, list] = argument as [number | string, unknown]
        return (this.resolve(list) as unknown[])[Number(index)]
      }
      case 'Fn::Split': {
        const [separator, text] = argument as [string, unknown]
        return this.text(text).split(separator)
      }
      case 'Fn::ImportValue':
        return this.#imported(this.text(argument))
      default:
        throw new Error(`The local stack cannot evaluate ${name} in the template`)
    }
  }

  /** What another stack of the same app exports under this name. */
  #imported(exportName: string): unknown {
    for (const template of this.#templates) {
      const resolver = new Resolver(template, this.#templates, this.#environment, this.#names)
      for (const output of Object.values(template.Outputs ?? {}))
        if (output.Export !== undefined && resolver.text(output.Export.Name) === exportName)
          return resolver.resolve(output.Value)
    }
    return `local-${exportName}`
  }
}

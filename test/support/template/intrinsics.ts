/** The text that CloudFormation makes of a value, references written as `<Resource>` and `<Resource.Attribute>`. */
export function textOf(value: unknown, names: Readonly<Record<string, unknown>> = {}): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const [[operator, operand]] = Object.entries(value) as [[string, never]]
  const text = (inner: unknown) => textOf(inner, names)
  switch (operator) {
    case 'Ref':
      return operand in names ? text(names[operand]) : `<${operand}>`
    case 'Fn::GetAtt':
      return `<${(operand as string[]).join('.')}>`
    case 'Fn::Join':
      return list(operand[1], names).join(operand[0])
    case 'Fn::Select':
      return list(operand[1], names)[Number(operand[0])] ?? ''
    case 'Fn::Sub': {
      const [template, values] = (Array.isArray(operand) ? operand : [operand, {}]) as [string, Record<string, unknown>]
      return template.replace(/\$\{([^}]+)\}/g, (_, name: string) =>
        name in values ? text(values[name]) : text({ Ref: name }),
      )
    }
    default:
      throw new Error(`${operator} is not foreseen`)
  }
}

function list(value: unknown, names: Readonly<Record<string, unknown>>): string[] {
  if (Array.isArray(value)) return value.map((each) => textOf(each, names))
  const { 'Fn::Split': split } = value as { 'Fn::Split': [string, unknown] }
  return textOf(split[1], names).split(split[0])
}

import type { Answer } from './answer.ts'

export interface Button {
  name: string | undefined
  value: string
  label: string
}

/** A form of a page, as a browser without scripts sends it. */
export interface Form {
  action: string
  /** What is sent unless something else is typed. */
  fields: [name: string, value: string][]
  /** The name of the field for a login, and of the one for a password. */
  login: string | undefined
  password: string | undefined
  buttons: Button[]
}

/** The forms that are posted, in the order of the page. */
export const formsOf = ({ text, exchange }: Answer): Form[] =>
  elementsOf(text, 'form').flatMap(([tag, inner]) =>
    attributeOf(tag, 'method')?.toLowerCase() === 'post' ? readForm(tag, inner, exchange.url) : [],
  )

function readForm(tag: string, inner: string, page: string): Form {
  const inputs = [...inner.matchAll(/<input\b([^<>]*)>/gi)].map(([, input = '']) => ({
    name: attributeOf(input, 'name'),
    value: attributeOf(input, 'value') ?? '',
    type: (attributeOf(input, 'type') ?? 'text').toLowerCase(),
    checked: /\schecked\b/i.test(input),
  }))
  const nameOf = (types: string[]) => inputs.find(({ name, type }) => name && types.includes(type))?.name
  const sent = inputs.filter(
    ({ type, checked }) => !/^(submit|button|image|file|reset)$/.test(type) && (checked || !/^(checkbox|radio)$/.test(type)),
  )
  const submits = inputs.filter(({ type }) => type === 'submit')
  return {
    action: new URL(attributeOf(tag, 'action') || page, page).href,
    fields: sent.flatMap(({ name, value }): [string, string][] => (name ? [[name, value]] : [])),
    login: nameOf(['text', 'email']),
    password: nameOf(['password']),
    buttons: [...readButtons(inner), ...submits.map(({ name, value }) => ({ name, value, label: value }))],
  }
}

const readButtons = (inner: string): Button[] =>
  elementsOf(inner, 'button').map(([tag, label]) => ({
    name: attributeOf(tag, 'name'),
    value: attributeOf(tag, 'value') ?? '',
    label: label
      .replaceAll(/<[^<>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))

/** The attributes and the content of each element. Elements of one name are not nested. */
function elementsOf(markup: string, name: 'form' | 'button'): [tag: string, inner: string][] {
  const parts = markup.split(name === 'form' ? /<form\b/i : /<button\b/i).slice(1)
  return parts.flatMap((part): [string, string][] => {
    const [start, end] = [part.indexOf('>'), part.toLowerCase().indexOf(`</${name}>`)]
    return start >= 0 && end > start ? [[part.slice(0, start), part.slice(start + 1, end)]] : []
  })
}

function attributeOf(tag: string, name: string): string | undefined {
  const [, double, single, bare] =
    new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag) ?? []
  const value = double ?? single ?? bare
  return value === undefined ? undefined : withoutEntities(value)
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const withoutEntities = (text: string) =>
  text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0x10ffff ? whole : String.fromCodePoint(code)
  })

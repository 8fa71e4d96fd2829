/** Text that is markup already: XML, and HTML as well where its elements are. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Markup | Value[] | false | null | undefined

/** Everything put into a template is escaped, unless a template made it; characters that XML 1.0 has no way to write are left out. */
export function xml(strings: TemplateStringsArray, ...values: Value[]): Markup {
  return new Markup(strings.map((text, index) => text + (index < values.length ? render(values[index]) : '')).join(''))
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(render).join('')
  return value instanceof Markup ? value.text : escapeText(String(value))
}

const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
// A line feed is what a parser makes of a bare carriage return, so that one is spelled out.
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;', '\r': '&#13;' }

function escapeText(text: string) {
  return text.replaceAll(forbidden, '').replaceAll(/[&<>"'\r]/g, (character) => entities[character] ?? '')
}

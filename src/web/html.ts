/** Text that is markup already, and must not be escaped again. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | Value[] | null | undefined | false

/** Everything put into a template is escaped, unless a template made it. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(strings.map((text, index) => text + (index < values.length ? render(values[index]) : '')).join(''))
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(render).join('')
  return value instanceof Html ? value.text : escapeText(String(value))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeText(text: string) {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}

/** Text that is markup already, and must not be escaped again. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | Value[] | null | undefined | false

/** Makes a template tag that escapes every value which is not markup already. */
const templateOf =
  (escapeText: (text: string) => string) =>
  (strings: TemplateStringsArray, ...values: Value[]): Html => {
    const render = (value: Value): string => {
      if (value === null || value === undefined || value === false) return ''
      if (Array.isArray(value)) return value.map(render).join('')
      return value instanceof Html ? value.text : escapeText(String(value))
    }
    return new Html(strings.map((text, index) => text + (index < values.length ? render(values[index]) : '')).join(''))
  }

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** A parser of XML turns a bare carriage return into a line feed, so it is escaped. */
const xmlEntities: Record<string, string> = { ...entities, "'": '&apos;', '\r': '&#13;' }
/** XML 1.0 cannot contain these characters in any form. */
const notInXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

export const html = templateOf((text) => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? ''))
export const xml = templateOf((text) =>
  text.replaceAll(notInXml, '').replaceAll(/[&<>"'\r]/g, (character) => xmlEntities[character] ?? ''),
)

import { setImmediate } from 'node:timers/promises'
import { findAddresses } from '#hosting/mentions/addresses.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { invalid } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import { plainReading, type Reading, readMarkdown } from '#web/markdown/render.ts'
import type { Visit } from '#web/page.ts'

/** How many tokens of markup one page formats: about half a second of one core. Later texts are shown unformatted. */
const mostPieces = 100_000

/** Renders all texts of a page together, so that one query looks up all names. */
export async function renderTexts({ db, visitor }: Visit, repo: Repository, texts: (string | null)[]): Promise<Html[]> {
  const readings: Reading[] = []
  let pieces = 0
  for (const text of texts) {
    const reading = pieces > mostPieces ? plainReading(text ?? '') : await readMarkdown(text ?? '')
    readings.push(reading)
    pieces += reading.pieces
    // A page may have megabytes of text; other requests run in between.
    if ((text?.length ?? 0) > 10_000) await setImmediate()
  }
  const links = await findAddresses(
    db,
    visitor?.id ?? null,
    repo,
    readings.flatMap(({ names }) => names),
  )
  return readings.map((reading) => reading.write(links))
}

/** The longest text that the API accepts. */
const longestBody = 65_536
const longestTitle = 256

export function textArea(name: string, label: string, value: string, options: { required?: boolean } = {}): Html {
  return html`<label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="7" maxlength="${longestBody}"${options.required && html` required`}
aria-describedby="${name}-hint">
${value}</textarea><p class="hint muted" id="${name}-hint">Markdown. @name notifies a user, #12 refers to an issue.</p>`
}

/** The text of a form field with `
` line ends and without null characters, which PostgreSQL rejects. */
export function written(form: URLSearchParams, name: 'title' | 'body'): string {
  const text = (form.get(name) ?? '').replaceAll('\0', '').replaceAll(/\r\n?/g, '\n').trim()
  const longest = name === 'title' ? longestTitle : longestBody
  if (text.length > longest) {
    throw invalid({ resource: 'Issue', code: 'invalid', field: name, message: `${name} is longer than ${longest} characters` })
  }
  return text
}

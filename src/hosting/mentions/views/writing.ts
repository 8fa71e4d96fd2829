import { setImmediate } from 'node:timers/promises'
import { findAddresses } from '#hosting/mentions/addresses.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { invalid } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import { plainReading, type Reading, readMarkdown } from '#web/markdown.ts'
import type { Visit } from '#web/page.ts'

/** One page formats no more than this, in pieces of markup: about half a second of one core. Texts after that are shown as written. */
const mostPieces = 100_000

/** What people wrote, for a page: all of its texts together, so that those who are named in them are looked up once. */
export async function writeTexts({ db, visitor }: Visit, repo: Repository, texts: (string | null)[]): Promise<Html[]> {
  const readings: Reading[] = []
  let pieces = 0
  for (const text of texts) {
    const reading = pieces > mostPieces ? plainReading(text ?? '') : await readMarkdown(text ?? '')
    readings.push(reading)
    pieces += reading.pieces
    // A page may hold megabytes; others are served in between.
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

/** The longest text that is taken, as the interface has it. */
const longestBody = 65_536
const longestTitle = 256

export function textArea(name: string, label: string, value: string, options: { required?: boolean } = {}): Html {
  return html`<label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="7" maxlength="${longestBody}"${options.required && html` required`}
aria-describedby="${name}-hint">
${value}</textarea><p class="hint muted" id="${name}-hint">Markdown. @name tells somebody, #12 refers to an issue.</p>`
}

/** What was written in a form: browsers end lines in their own way, and the database takes no null character. */
export function written(form: URLSearchParams, name: 'title' | 'body'): string {
  const text = (form.get(name) ?? '').replaceAll('\0', '').replaceAll(/\r\n?/g, '\n').trim()
  const longest = name === 'title' ? longestTitle : longestBody
  if (text.length > longest) {
    throw invalid({ resource: 'Issue', code: 'invalid', field: name, message: `${name} is longer than ${longest} characters` })
  }
  return text
}

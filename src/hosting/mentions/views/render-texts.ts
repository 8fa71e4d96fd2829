import { renderAll } from '#hosting/mentions/rendering.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { invalid } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

/** The texts of a page, with links for those names that the visitor may see. */
export const renderTexts = ({ db, visitor }: Visit, repo: Repository, texts: (string | null)[]) =>
  renderAll({ db, viewer_id: visitor?.id ?? null, repo, web: '' }, texts)

/** The longest text that the API accepts. */
export const longestBody = 65_536
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

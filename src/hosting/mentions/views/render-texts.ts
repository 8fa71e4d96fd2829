import { renderAll } from '#hosting/mentions/rendering.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { invalid } from '#platform/errors.ts'
import type { Visit } from '#web/page.ts'

/** The texts of a page, with links for those names that the visitor may see. */
export const renderTexts = ({ db, visitor }: Visit, repo: Repository, texts: (string | null)[]) =>
  renderAll({ db, viewer: { viewer_id: visitor?.id ?? null, sees_private: visitor !== null }, repo, web: '' }, texts)

/** The longest text that the API accepts. */
export const longestBody = 65_536
const longestTitle = 256

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

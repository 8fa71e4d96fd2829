import { icon } from '#web/components/icon.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { type Html, html } from '#web/html.ts'
import { type Links, renderMarkdown } from '#web/markdown/render.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import type { FileContent } from '../well-known-files.ts'
import { textOf } from './file-text.ts'

export const isMarkdown = (path: string) => /\.(md|markdown|mdown|mkdn?)$/i.test(path)

/** Relative addresses in a file lead to other files of the same commit; from the root if they begin with a slash. */
export function linksFrom(location: CodeLocation, file: string): Links {
  return {
    fileLink(address, kind) {
      const view = kind === 'image' ? 'raw' : 'blob'
      const root = codeAddress(view, location)
      const url = URL.parse(
        address.startsWith('/') ? root + address : address,
        `http://files.invalid${codeAddress(view, location, file)}`,
      )
      return url ? `${url.pathname}${url.search}${url.hash}` : address
    },
  }
}

/** A README below the files of its folder. */
export async function readmeBox(location: CodeLocation, readme: FileContent | undefined): Promise<Html | undefined> {
  if (readme?.kind !== 'file' || !readme.bytes) return undefined
  const text = textOf(readme.bytes)
  if (text === null) return undefined
  const { path } = readme.entry
  const body = isMarkdown(path)
    ? markdownBody(await renderMarkdown(text, linksFrom(location, path), 'file'))
    : html`<pre class="plain-text" tabindex="0">${text}</pre>`
  return html`<section class="box readme" id="readme" aria-labelledby="readme-name"><div class="box-header">${icon('book')}
<h2 id="readme-name"><a class="entry" href="${codeAddress('blob', location, path)}">${path}</a></h2></div><div class="readme-body">${body}</div></section>`
}

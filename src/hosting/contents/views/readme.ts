import { icon } from '#web/components/icon.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { highlightBlocks } from '#web/highlight/highlight.ts'
import { type Html, html } from '#web/html.ts'
import { type Links, readMarkdown } from '#web/markdown/render.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import { ifSoon } from '../commit-cache.ts'
import type { FileContent } from '../well-known-files.ts'
import { textOf } from './file-text.ts'

export const isMarkdown = (path: string) => /\.(md|markdown|mdown|mkdn?)$/i.test(path)

/** Relative addresses in a file lead to other files of the same commit; from the root if they begin with a slash. */
function linksFrom(location: CodeLocation, file: string): Links {
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

/** Milliseconds that a page waits for the colours of code. */
const patience = 300

/** A Markdown file. */
export async function renderFile(location: CodeLocation, path: string, text: string): Promise<Html> {
  const { blocks, write } = await readMarkdown(text, 'file')
  const highlighted = await ifSoon(highlightBlocks(blocks), patience)
  return write({ ...linksFrom(location, path), codeBlock: (block) => highlighted?.get(block) })
}

/** A README below the files of its folder. */
export async function readmeBox(location: CodeLocation, readme: FileContent | undefined): Promise<Html | undefined> {
  if (readme?.kind !== 'file' || !readme.bytes) return undefined
  const text = textOf(readme.bytes)
  if (text === null) return undefined
  const { path } = readme.entry
  const body = isMarkdown(path)
    ? markdownBody(await renderFile(location, path, text))
    : html`<pre class="plain-text" tabindex="0">${text}</pre>`
  return html`<section class="box readme" id="readme" aria-labelledby="readme-name"><div class="box-header">${icon('book')}
<h2 id="readme-name"><a class="entry" href="${codeAddress('blob', location, path)}">${path}</a></h2></div><div class="readme-body">${body}</div></section>`
}

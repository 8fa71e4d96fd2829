import type { RefNames } from '#hosting/refs/recorded-refs.ts'
import { mayPush } from '#hosting/repositories/views/repository-page.ts'
import { buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { segments } from '#web/components/tabs.ts'
import { banner } from '#web/components/toast.ts'
import { highlightLines } from '#web/highlight/highlight.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import { ifSoon } from '../commit-cache.ts'
import type { Content } from '../contents.ts'
import { findLastCommits } from '../read-code.ts'
import { commitBar } from './commit-bar.ts'
import { imageType, readPointer, sizeText, textOf } from './file-text.ts'
import { pathBar } from './folder-page.ts'
import { authorOf, patience } from './overview.ts'
import { isMarkdown, renderFile } from './readme.ts'

/** Lines of one page. A file of 1 MB may have a million. */
export const mostLines = 20_000

type FileContent = Exclude<Content, { kind: 'dir' }>

/** A file, a link or a submodule. */
export async function filePage(visit: Visit, location: CodeLocation, content: FileContent, refs: RefNames): Promise<Html> {
  const { path } = location
  const last = await ifSoon(findLastCommits(visit.belfry.storage, location, []), patience)
  const author = last?.latest && (await authorOf(visit, last.latest))
  const permalink = codeAddress('blob', { repo: location.repo, ref: location.sha }, path)
  return html`<main class="code-page" data-permalink="${permalink}">${banner(visit.flash.done)}${pathBar(location, 'blob', refs)}
<section class="box" aria-label="Latest commit"><div class="box-header">${commitBar(location, last?.latest, author)}</div></section>
${await show(visit, location, content)}</main>`
}

async function show(visit: Visit, location: CodeLocation, content: FileContent): Promise<Html> {
  const plain = visit.query.get('plain') === '1'
  const tools = changeTools(visit, location, content)
  if (content.kind === 'submodule') return submodule(content)
  if (content.kind === 'symlink') return fileBox(location, html`Link`, linkBody(content.target), { tools })
  const { entry, bytes, link } = content
  const { path } = location
  const size = sizeText(entry.size)
  const via =
    link === undefined ? undefined : banner(html`A link to <code>${link}</code>. This is the file to which it leads.`, 'accent')
  const text = bytes && textOf(bytes)
  if (imageType(path) && !(plain && text !== null)) {
    const raw = codeAddress('raw', location, path)
    const picture = html`<div class="picture"><img src="${raw}" alt="${path}"></div>`
    return html`${via}${fileBox(location, html`${size}`, picture, { view: 'preview', code: text !== null, tools })}`
  }
  if (text === null) {
    const why = bytes ? 'This file is binary.' : `This file is too large to show (${size}).`
    return html`${via}${fileBox(location, html`${size}`, notice(location, why), { tools })}`
  }
  const pointer = readPointer(text)
  if (pointer) {
    const why = `This file is stored with Git LFS (${sizeText(pointer.size)}).`
    return html`${via}${fileBox(location, html`Git LFS · ${sizeText(pointer.size)}`, notice(location, why))}`
  }
  const markdown = isMarkdown(path)
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
  const facts = html`${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'} · ${size}`
  if (markdown && !plain) {
    const body = html`<div class="readme-body">${markdownBody(await renderFile(location, path, text))}</div>`
    return html`${via}${fileBox(location, facts, body, { view: 'preview', code: true, text: link === undefined, tools })}`
  }
  const body =
    text === '' ? html`<p class="file-notice muted">This file is empty.</p>` : await codeLines(location, entry.sha, text)
  const views = {
    view: 'code' as const,
    code: true,
    preview: markdown || imageType(path) !== undefined,
    text: link === undefined,
    tools,
  }
  return html`${via}${bidiWarning(text)}${fileBox(location, facts, body, views)}`
}

/** For those who may push, on a branch. */
function changeTools(visit: Visit, location: CodeLocation, content: FileContent): Html | undefined {
  if (!mayPush(visit, location.repo) || !location.is_branch || content.kind === 'submodule') return undefined
  const address = (verb: 'edit' | 'delete') => codeAddress(verb, location, location.path)
  const isText = content.kind === 'file' && content.link === undefined && content.bytes !== null && textOf(content.bytes) !== null
  const edit = isText && buttonLink('', address('edit'), { icon: 'pencil', size: 'small', label: 'Edit this file' })
  return html`<span class="button-group">${edit}${buttonLink('', address('delete'), { icon: 'trash', size: 'small', label: 'Delete this file' })}</span>`
}

/** Text that is shown in another order than a compiler reads it. */
function bidiWarning(text: string) {
  if (!/[\u202a-\u202e\u2066-\u2069]/.test(text)) return undefined
  return banner(
    'This file contains characters that change the direction of text. A compiler may read it in another order than it is shown here.',
    'attention',
  )
}

async function codeLines(location: CodeLocation, sha: string, text: string): Promise<Html> {
  const lines = await highlightLines(sha, location.path, text)
  const shown = lines.slice(0, mostLines)
  const more = lines.length - shown.length
  return html`${more > 0 && banner(`The first ${mostLines} lines. The raw file has ${more} more.`, 'accent')}<pre class="code-lines" tabindex="0" aria-label="Contents of the file">${shown.map((line, index) => numberedLine(line, index + 1))}</pre>`
}

/** The line feed is part of the line, so that selected text can be copied. */
export const numberedLine = (line: Html, number: number): Html =>
  html`<span class="line" id="L${number}"><a href="#L${number}" tabindex="-1">${number}</a>${line}\n</span>`

interface Views {
  view?: 'preview' | 'code' | 'blame'
  /** Whether the file can be shown as text, and as something else. */
  code?: boolean
  preview?: boolean
  /** Whether it has lines to blame and to copy. */
  text?: boolean
  /** Links to change the file. */
  tools?: Html | undefined
}

/** A file in a frame, with other views of it and with links to its contents. */
export function fileBox(location: CodeLocation, facts: Html, body: Html, views: Views = {}): Html {
  const { path } = location
  const { view, code = false, preview = view === 'preview', text = false, tools } = views
  const blob = codeAddress('blob', location, path)
  const raw = codeAddress('raw', location, path)
  const tab = (name: Views['view'], label: string, href: string) => ({ text: label, href, current: view === name })
  const tabs = [
    ...(preview ? [tab('preview', 'Preview', blob)] : []),
    ...(code ? [tab('code', 'Code', preview ? `${blob}?plain=1` : blob)] : []),
    ...(text ? [tab('blame', 'Blame', codeAddress('blame', location, path))] : []),
  ]
  const copy =
    text &&
    html`<button type="button" class="button small" data-copy-file="${raw}" aria-label="Copy the contents" title="Copy the contents" hidden>${icon('copy')}</button>`
  return html`<section class="box file" aria-label="File"><div class="box-header">${tabs.length > 1 && segments('Views of the file', tabs)}<span class="muted file-facts">${facts}</span>
<span class="space"></span><div class="buttons"><span class="button-group">${buttonLink('Raw', raw, { size: 'small' })}${copy}<a class="button small" href="${raw}" download aria-label="Download the file" title="Download the file">${icon('download')}</a></span>${tools}</div></div>${body}</section>`
}

const notice = (location: CodeLocation, why: string) =>
  html`<p class="file-notice">${why} <a href="${codeAddress('raw', location, location.path)}" download>Download it</a></p>`

const linkBody = (target: string) =>
  html`<p class="file-notice">${icon('file-symlink-file')} A link to <code>${target}</code>, which is not a file of this commit.</p>`

function submodule({ entry, submodule_git_url: url }: FileContent & { kind: 'submodule' }): Html {
  const address =
    url && /^https?:\/\//i.test(url)
      ? html`<a href="${url.replace(/\.git$/, '')}" rel="nofollow noreferrer">${url}</a>`
      : html`<code>${url ?? 'unknown'}</code>`
  return html`<section class="box file" aria-label="Submodule"><p class="file-notice">${icon('file-submodule')} A submodule: commit <code>${entry.sha}</code> of ${address}</p></section>`
}

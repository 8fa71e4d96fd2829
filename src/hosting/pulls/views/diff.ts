import type { ChangedFile, Changes } from '#git/changes.ts'
import { encodePath } from '#hosting/refs/json.ts'
import { buttonLink } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { icon } from '#web/components/icon.ts'
import { segments } from '#web/components/tabs.ts'
import { readCookie, writeCookie } from '#web/cookies.ts'
import { type Html, html } from '#web/html.ts'
import { isSecure, type Visit } from '#web/page.ts'
import { highlightDiff } from './diff-highlight.ts'
import { readRows } from './diff-rows.ts'
import { anchorOf, type DiffComments, diffTable, type Layout } from './diff-table.ts'

/** Limits of one page. */
const mostFiles = 300
const mostLines = 6000
/** A longer file is shown on a page of its own. */
const mostLinesOfFile = 1500

export interface DiffOptions {
  /** The repositories and commits that have the files. */
  head?: { repository: string; sha: string } | undefined
  base?: { repository: string; sha: string } | undefined
  comments?: DiffComments | undefined
  /** The address of the page, if it can also be the answer to a form that was sent elsewhere. */
  address?: string | undefined
  /** At the end of the bar above the files. */
  tools?: Html | undefined
}

/** The files of a commit, a comparison or a pull request, with their changed lines. */
export async function diffView(visit: Visit, changes: Changes, options: DiffOptions = {}): Promise<Html> {
  const layout = layoutOf(visit)
  const alone = visit.query.get('file')
  const files = changes.files.slice(0, mostFiles).filter(({ filename }) => alone === null || filename === alone)
  let room = mostLines
  const read = files.map((file) => {
    const rows = file.patch === undefined ? [] : readRows(file.patch)
    const fits = alone !== null || (rows.length <= mostLinesOfFile && rows.length <= room)
    if (fits) room -= rows.length
    return { file, rows, fits }
  })
  await highlightDiff(read.filter(({ fits }) => fits))
  const shown = read.map(({ file, rows, fits }) =>
    showFile(file, fits ? diffTable(file, rows, layout, options.comments) : tooLong(visit, file, options), options),
  )
  const more = alone === null ? changes.changed_files - shown.length : 0
  return html`<div class="diff${shown.length > 1 && ' listed'}">${bar(visit, changes, layout, options)}${shown.length > 1 && fileIndex(files)}
<div class="diff-content">${alone !== null && html`<p class="muted">Only <code>${alone}</code> is shown. <a href="${addressWith(visit, options.address, { file: null })}">Show all files</a></p>`}${shown}${more > 0 && html`<p class="muted">${more} more files are not shown.</p>`}</div></div>`
}

const cookie = 'belfry_diff'
const year = 365 * 86_400

/** The query sets it for the next pages too. */
function layoutOf(visit: Visit): Layout {
  const wanted = visit.query.get('diff')
  if (wanted === 'split' || wanted === 'unified') {
    writeCookie(visit.reply, cookie, wanted, { max_age: year, secure: isSecure(visit.belfry) })
    return wanted
  }
  return readCookie(visit.request, cookie) === 'split' ? 'split' : 'unified'
}

function addressWith({ request, query }: Visit, address: string | undefined, changed: Record<string, string | null>): string {
  const asked = new URLSearchParams(query)
  asked.delete('flash')
  for (const [name, value] of Object.entries(changed)) value === null ? asked.delete(name) : asked.set(name, value)
  const [asking = ''] = request.url.split('?')
  const path = address ?? asking
  return asked.size ? `${path}?${asked}` : path
}

function bar(visit: Visit, { changed_files, additions, deletions }: Changes, layout: Layout, options: DiffOptions): Html {
  const { address, tools } = options
  const choice = (name: Layout, text: string, picture: string) => ({
    text,
    href: addressWith(visit, address, { diff: name }),
    icon: picture,
    current: layout === name,
  })
  return html`<div class="diff-bar"><p><strong>${changed_files} changed ${changed_files === 1 ? 'file' : 'files'}</strong> ${counts({ additions, deletions })}</p>
${segments('Layout of the changes', [choice('unified', 'Unified', 'rows'), choice('split', 'Split', 'columns')])}${tools}</div>`
}

export const counts = ({ additions, deletions }: { additions: number; deletions: number }) =>
  html`<span class="diff-counts"><span class="additions">+${additions}<span class="unseen"> lines added</span></span> <span class="deletions">−${deletions}<span class="unseen"> lines removed</span></span></span>`

const pictures = {
  added: 'diff-added',
  removed: 'diff-removed',
  modified: 'diff-modified',
  renamed: 'diff-renamed',
  copied: 'diff-added',
} as const

/** The files by folder, to jump to. */
function fileIndex(files: ChangedFile[]): Html {
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1)
  const folders = Map.groupBy(files, ({ filename }) => folderOf(filename))
  const lists = [...folders].map(
    ([folder, inside]) =>
      html`${folder && html`<p class="muted">${icon('file-directory')} ${folder}</p>`}<ul class="plain">${inside.map(
        ({ filename, status }) =>
          html`<li><a href="#${anchorOf(filename)}"><span class="status ${status}">${icon(pictures[status], { label: status })}</span> <span>${filename.slice(folder.length)}</span></a></li>`,
      )}</ul>`,
  )
  return html`<nav class="diff-index" aria-label="Changed files"><details open><summary>${icon('file-diff')} Files</summary>${lists}</details></nav>`
}

function showFile(file: ChangedFile, shown: Html, { head, base, comments }: DiffOptions): Html {
  const { filename, previous_filename, status, additions, deletions } = file
  const anchor = anchorOf(filename)
  const at = status === 'removed' ? base : head
  const name = previous_filename ? html`<span class="muted">${previous_filename} → </span>${filename}` : html`${filename}`
  const lines = file.patch === undefined ? html`<p class="diff-note">${withoutLines(file)}</p>` : shown
  return html`<section class="diff-file" id="${anchor}" aria-label="${filename}" data-viewed-key="${file.sha}"><div class="diff-actions">${copyButton(filename, `Copy the path ${filename}`)}${
    at && buttonLink('View file', `${at.repository}/blob/${at.sha}/${encodePath(filename)}`, { size: 'small', kind: 'invisible' })
  }<label class="viewed" hidden><input type="checkbox"> Viewed</label></div>
<details open><summary><span class="chevron">${icon('chevron-down')}</span><code>${name}</code> ${status !== 'modified' && html`<span class="badge">${status}</span> `}${counts({ additions, deletions })}</summary>
${bidiNote(file)}${comments?.above(file)}${lines}</details></section>`
}

/** Such characters can make code read differently from what it does. */
const bidiNote = ({ filename, patch = '' }: ChangedFile) =>
  /[\u202a-\u202e\u2066-\u2069]/.test(filename + patch) &&
  html`<p class="diff-said">${icon('alert')} This file has characters that change the direction of text, so that it may not read as it runs.</p>`

/** Git has no lines of binary files, and reads no long ones. */
function withoutLines({ status, changes }: ChangedFile): string {
  if (changes) return 'The changes of this file are too long to show.'
  if (status === 'renamed' || status === 'copied') return `The file was ${status} without changes.`
  return status === 'modified' ? 'A binary file, or a change of its mode only.' : 'A binary or empty file.'
}

const tooLong = (visit: Visit, { filename, changes }: ChangedFile, { address }: DiffOptions) =>
  html`<p class="diff-note">${changes} changed lines are not shown here. <a href="${addressWith(visit, address, { file: filename })}">Show this file alone</a></p>`

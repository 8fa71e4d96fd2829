import type { LastCommits } from '#git/last-commits.ts'
import type { Entry } from '#git/tree-entries.ts'
import { icon } from '#web/components/icon.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import { commitAddress } from './commit-bar.ts'

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const isFolder = ({ type }: Entry) => type === 'tree'

/** The entries of a folder, folders first, each with its last commit. */
export function fileTable(location: CodeLocation, entries: Entry[], last: LastCommits | undefined, header: Html): Html {
  const sorted = [...entries.filter(isFolder), ...entries.filter((entry) => !isFolder(entry))]
  const { path } = location
  const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
  const up =
    path !== '' &&
    html`<tr><td colspan="3"><a class="entry" href="${codeAddress('tree', location, parent)}" aria-label="Parent folder"><span class="entry-icon folder">${icon('file-directory-fill')}</span> ..</a></td></tr>`
  const rows = sorted.map((entry) => {
    const commit = last?.entries.get(nameOf(entry.path))
    return html`<tr><td class="file-name">${entryName(location, entry)}</td>
<td class="file-commit">${commit && html`<a class="entry-commit" href="${commitAddress(location, commit.sha)}" title="${commit.title}">${commit.title || 'No message'}</a>`}</td>
<td class="file-time">${commit && moment(commit.committed_at)}</td></tr>`
  })
  return html`<section class="box files" aria-label="Files"><div class="box-header">${header}</div><table><colgroup><col class="name-column"><col class="commit-column"><col class="time-column"></colgroup>
<thead class="unseen"><tr><th scope="col">Name</th><th scope="col">Last commit</th><th scope="col">Time</th></tr></thead>
<tbody>${up}${rows}</tbody></table></section>`
}

function entryName(location: CodeLocation, { type, mode, path, sha }: Entry): Html {
  const name = nameOf(path)
  if (type === 'commit') {
    return html`<span class="entry-icon folder">${icon('file-submodule', { label: 'Submodule' })}</span> <a class="entry" href="${codeAddress('tree', location, path)}">${name}</a> <span class="muted">@ <code>${sha.slice(0, 7)}</code></span>`
  }
  const isTree = type === 'tree'
  const symbol = isTree
    ? icon('file-directory-fill', { label: 'Folder' })
    : mode === '120000'
      ? icon('file-symlink-file', { label: 'Link' })
      : icon('file', { label: 'File' })
  return html`<span class="entry-icon${isTree && ' folder'}">${symbol}</span> <a class="entry" href="${codeAddress(isTree ? 'tree' : 'blob', location, path)}">${name}</a>`
}

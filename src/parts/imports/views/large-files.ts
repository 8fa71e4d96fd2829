import { count } from '#hosting/issues/views/conversation.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { LargeFile } from '#importer/steps.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'
import { importPath, type ListPosition, pager, positionUrl } from './import-page.ts'

export const filesPerPage = 100

interface Found {
  visit: SignedIn
  repo: Repository
  imported: Import
  files: LargeFile[]
  position: ListPosition
}

export const isWaiting = ({ status, active }: Import) => status === 'mapping' && !active

export function largeFiles({ visit, repo, imported, files, position }: Found): Html | undefined {
  const { large_files_count: total, large_files_size } = imported
  if (!total) return undefined
  const rows = files.map(
    ({ path, ref_name, size }) =>
      html`<tr><td class="address">${path}</td><td class="address">${shortRef(ref_name)}</td><td class="number">${describeSize(size)}</td></tr>`,
  )
  return html`<section aria-labelledby="files-title"><div class="heading"><h2 id="files-title">Large files</h2><span class="muted">${count(total, 'file')}, ${describeSize(large_files_size)}${total > 1 && ' together'}</span></div>
<div id="files">${decision(visit, repo, imported)}<div class="wide" tabindex="0" role="region" aria-label="List of large files"><table class="files"><thead><tr><th scope="col">File</th><th scope="col">Found in</th><th scope="col" class="number">Size</th></tr></thead><tbody>${rows}</tbody></table></div>
${pager('large files', position.files, Math.ceil(total / filesPerPage), (page) => positionUrl(repo, { ...position, files: page }, 'files'))}</div></section>`
}

const outcomes = {
  undecided: 'Choose how they are stored.',
  opt_in: 'They are stored with Git LFS.',
  opt_out: 'They are left out of every commit.',
}

function decision(visit: SignedIn, repo: Repository, imported: Import): Html {
  const { status, use_lfs } = imported
  if (repo.archived || status === 'pushing' || status === 'complete') return html`<p>${outcomes[use_lfs]}</p>`
  const choiceButton = (value: 'opt_in' | 'opt_out', text: string) =>
    use_lfs !== value &&
    html`<button name="use_lfs" value="${value}" id="${value}"${use_lfs === 'undecided' && value === 'opt_in' && html` class="primary"`}>${text}</button>`
  const buttons = html`<p class="buttons">${choiceButton('opt_in', 'Store them with Git LFS')} ${choiceButton('opt_out', 'Leave them out')}</p>`
  return html`<p>${outcomes[use_lfs]} With Git LFS, commits contain a pointer, and the content is fetched on demand; everyone who
clones the repository needs <code>git lfs</code>. If they are left out, they are in no commit and cannot be downloaded from here.</p>${form(visit, `${importPath(repo)}/lfs`, buttons, { class: 'form lfs' })}`
}

const shortRef = (name: string) => name.replace(/^refs\/(?:import\/orig\/)?(?:heads|tags)\//, '')

/** With one decimal, in units of 1024. A file just over 100 MB is not shown as 100 MB. */
export function describeSize(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const number = bytes / 1024 ** power
  return `${number.toFixed(power === 0 ? 0 : 1).replace('.0', '')} ${units[power]}`
}

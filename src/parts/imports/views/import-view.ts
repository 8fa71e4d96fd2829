import { count } from '#hosting/issues/views/conversation.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { levelOf } from '#identity/access.ts'
import type { LargeFile } from '#importer/steps.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { loadImport, loadReport } from '#parts/imports/import-store.ts'
import { findImport, hasContents, listShownAuthors, listShownFiles } from '#parts/imports/page-queries.ts'
import { isUnderWay } from '#parts/imports/states.ts'
import type { Queryable } from '#platform/database.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { note } from '#web/settings.ts'
import { authorTable, type InvalidAuthor, mayCorrect, perPage } from './authors.ts'
import { alertOf, blank } from './form.ts'
import { importPage, importPath, type ListPosition, pager, positionUrl, readPosition, resumeForm } from './import-page.ts'
import { factList, isRunning, progressBar, stepList } from './progress.ts'
import { leftOutTable, reportOf } from './report.ts'
import { requiredAction, type Submitted, startForm } from './required-action.ts'

/** The state of a rejected form. */
export interface ViewState {
  submitted?: Submitted
  invalidAuthor?: InvalidAuthor
  position?: ListPosition
}

const done = {
  started: 'The import has started.',
  disabled: 'Automation is disabled.',
  resumed: 'The import continues.',
  restarted: 'The import has restarted.',
  meanwhile: 'The import had already continued. This is its current state.',
  chosen: 'Your choice for large files is saved.',
  corrected: 'The author is corrected.',
  mapped: 'The authors of the file are corrected.',
  cancelled: 'The import is deleted.',
}

/** The current import of a repository, the form that starts one, or the reason why none can be started. */
export async function showImport(visit: SignedIn, repo: Repository, state: ViewState = {}): Promise<Outcome> {
  const imported = await findImport(visit.db, repo)
  const name = visit.request.method === 'GET' ? (visit.query.get('done') ?? '') : ''
  const banner = note(Object.hasOwn(done, name) ? done[name as keyof typeof done] : undefined)
  const body = imported ? await describe(visit, repo, imported, state) : await startPage(visit, repo, state)
  const title = imported ? headingOf(imported) : 'Import'
  return importPage(repo, title, html`${banner}${body}`, 200, imported?.status ?? 'none')
}

async function startPage(visit: SignedIn, repo: Repository, { submitted }: ViewState): Promise<Html> {
  const obstacle = await findObstacle(visit, repo)
  const intro = html`<h1>Import a repository</h1><p class="muted">An import copies the whole history of another repository into this one: branches, tags, authors and files. It changes nothing in the source.</p>`
  if (obstacle)
    return html`${intro}${alertOf(submitted?.errors ?? {})}<section class="card" aria-label="Why not">${obstacle}</section>`
  return html`${intro}${startForm(visit, repo, submitted, blank, 'Start import')}`
}

/** Why no import can be started, and what to do. */
async function findObstacle(visit: SignedIn, repo: Repository): Promise<Html | undefined> {
  if (repo.archived) {
    return html`<p><strong>This repository is archived.</strong> It is read-only. An administrator can unarchive it, or you can import into a new repository.</p>`
  }
  if (await hasContents(visit.db, repo)) {
    return html`<p><strong>This repository is not empty.</strong> Create a new repository without a first commit, and import into that one.</p>`
  }
  if (!repo.automation) return undefined
  const why = html`<p><strong>This repository has automation enabled.</strong> An import would trigger it for the whole history.`
  if (repo.access < levelOf('admin')) return html`${why} Ask an administrator of the repository to disable it, then import.</p>`
  const button = html`<button class="primary">Disable automation</button>`
  return html`${why} Disable it, import, and enable it again.</p>${form(visit, `${importPath(repo)}/automation`, button, { class: 'inline' })}`
}

function headingOf(imported: Import): string {
  if (imported.status === 'complete') return 'Imported'
  if (imported.status === 'error') return 'The import failed'
  return isRunning(imported) ? 'Importing' : 'The import needs your input'
}

async function describe(visit: SignedIn, repo: Repository, imported: Import, { submitted, ...state }: ViewState): Promise<Html> {
  const { db } = visit
  const requested = state.position ?? readPosition(visit.query)
  const last = Math.max(1, Math.ceil(imported.large_files_count / filesPerPage))
  const files_page = Math.min(requested.files, last)
  const [files, { page, ...authors }, report] = await Promise.all([
    listShownFiles(db, imported, { limit: filesPerPage, offset: (files_page - 1) * filesPerPage }),
    pageOfAuthors(db, imported, requested),
    imported.status === 'complete' && imported.report ? loadReport(db, repo) : undefined,
  ])
  const position = { ...requested, page, files: files_page }
  const needed = repo.archived ? undefined : requiredAction({ visit, repo, imported, submitted })
  const { invalidAuthor } = state
  return html`<div class="heading"><h1 id="title" tabindex="-1">${headingOf(imported)}</h1><span id="live" class="live" hidden></span></div>
${!needed && alertOf(submitted?.errors ?? {})}${invalidAuthor?.errors[''] && alertOf(invalidAuthor.errors)}${repo.archived && html`<p class="error">This repository is archived and read-only.</p>`}
${stepList(imported)}${summary(imported, visit, repo)}${needed}${report && reportOf(report)}${!report && leftOut(imported)}
${largeFiles({ visit, repo, imported, files, position })}${authorTable({ visit, repo, imported, ...authors, position, invalidAuthor })}${finalActions(visit, repo, imported)}`
}

/** Shown while there is time to cancel. */
function leftOut({ left_out }: Import): Html {
  if (!left_out?.length) return html`<div id="left-out"></div>`
  return html`<section id="left-out" aria-labelledby="left-out-title"><h2 id="left-out-title">Left out</h2>${leftOutTable(left_out)}<p class="muted">To keep them, cancel the import and start it with another layout, or keep deleted branches.</p></section>`
}

/** The last page if the requested one does not exist, for example because fewer authors match. */
async function pageOfAuthors(db: Queryable, imported: Import, { q, page }: ListPosition) {
  const slice = (number: number) => listShownAuthors(db, imported, q, { limit: perPage, offset: (number - 1) * perPage })
  const found = await slice(page)
  const last = Math.max(1, Math.ceil(found.total / perPage))
  return page > last ? { ...(await slice(last)), page: last } : { ...found, page }
}

function summary(imported: Import, visit: SignedIn, repo: Repository): Html {
  return html`${isRunning(imported) && progressBar(imported, visit.db.now)}${isWaiting(imported) && html`<p class="waiting">The import waits for your choice: <a href="#files">how should large files be stored?</a></p>`}
${imported.status === 'complete' && html`<p class="next"><a class="button primary" href="${pathOf(repo)}">Go to the repository</a></p>`}${factList(imported)}
${isUnderWay(imported.status) && html`<noscript><p><a href="${importPath(repo)}">Refresh</a> to see the progress.</p></noscript>`}`
}

/** Cancelling a running import and forgetting a complete one ask for confirmation. */
function finalActions(visit: SignedIn, repo: Repository, imported: Import): Html {
  const path = importPath(repo)
  const { status } = imported
  if (status === 'complete') {
    const again = resumeForm({ visit, repo, imported }, 'restart', html`<button id="restart">Import again</button>`)
    return html`<section class="danger-zone" aria-labelledby="ending-title"><h2 id="ending-title">Afterwards</h2>
${mayCorrect(imported) && !repo.archived && html`<p>Until the first push, you can import again: that brings what is new in the source.</p><div class="buttons">${again}</div>`}
<p>When the authors are correct, you can forget the import. The repository stays; the report and the list of authors are deleted.</p><p><a class="button danger" id="cancel" href="${path}/cancel">Forget this import</a></p></section>`
  }
  if (isUnderWay(status))
    return html`<p class="ending"><a class="button danger" id="cancel" href="${path}/cancel">Cancel import</a></p>`
  return html`<div class="ending">${form(visit, `${path}/cancel`, html`<button class="danger" id="cancel">Cancel import</button>`, { class: 'inline' })}</div>`
}

export async function cancelPage(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const { status, vcs_url } = await loadImport(visit.db, repo)
  const path = importPath(repo)
  const [title, text, button, keep] =
    status === 'complete'
      ? [
          'Forget this import?',
          'The repository stays. The report and the list of authors are deleted, and authors can no longer be corrected.',
          'Forget it',
          'Keep it',
        ]
      : [
          'Cancel this import?',
          'The import stops, and everything that was fetched is deleted. The repository stays as it was.',
          'Cancel the import',
          'Keep importing',
        ]
  const buttons = html`<p class="buttons"><button class="danger">${button}</button> <a class="button" href="${path}">${keep}</a></p>`
  const body = html`<h1>${title}</h1><p class="address">${vcs_url}</p><p>${text} You cannot undo this.</p>${form(visit, `${path}/cancel`, buttons)}`
  return importPage(repo, title, body)
}

const filesPerPage = 100

interface Found {
  visit: SignedIn
  repo: Repository
  imported: Import
  files: LargeFile[]
  position: ListPosition
}

const isWaiting = ({ status, active }: Import) => status === 'mapping' && !active

function largeFiles({ visit, repo, imported, files, position }: Found): Html | undefined {
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
function describeSize(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  const number = bytes / 1024 ** power
  return `${number.toFixed(power === 0 ? 0 : 1).replace('.0', '')} ${units[power]}`
}

import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { levelOf } from '#identity/access.ts'
import type { Import } from '#parts/imports/import-row.ts'
import { loadImport } from '#parts/imports/import-store.ts'
import { findImport, hasContents, listShownAuthors, listShownFiles } from '#parts/imports/page-queries.ts'
import { loadReport } from '#parts/imports/report.ts'
import { isUnderWay } from '#parts/imports/states.ts'
import type { Queryable } from '#platform/database.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { note } from '#web/settings.ts'
import { authorTable, type InvalidAuthor, mayCorrect, perPage } from './authors.ts'
import { alertOf, blank } from './form.ts'
import { importPage, importPath, type ListPosition, readPosition, resumeForm } from './import-page.ts'
import { filesPerPage, isWaiting, largeFiles } from './large-files.ts'
import { factList, isRunning, progressBar, stepList } from './progress.ts'
import { reportOf } from './report.ts'
import { requiredAction, type Submitted, startForm } from './required-action.ts'

/** What is shown besides what there is: what a form was refused for, and what was looked at as it was sent. */
export interface ViewState {
  submitted?: Submitted
  invalidAuthor?: InvalidAuthor
  look?: ListPosition
}

const done = {
  started: 'The import has begun.',
  disabled: 'Automation is disabled.',
  resumed: 'The import goes on.',
  restarted: 'The import begins again.',
  meanwhile: 'The import had gone on already: this is where it stands.',
  chosen: 'That is what becomes of large files.',
  corrected: 'The author is corrected.',
  cancelled: 'The import is gone.',
}

/** The import of a repository where it stands; or the form that starts one, or why there is none. */
export async function showImport(visit: SignedIn, repo: Repository, state: ViewState = {}): Promise<Outcome> {
  const imported = await findImport(visit.db, repo)
  const name = visit.request.method === 'GET' ? (visit.query.get('done') ?? '') : ''
  const said = note(Object.hasOwn(done, name) ? done[name as keyof typeof done] : undefined)
  const body = imported ? await describe(visit, repo, imported, state) : await startPage(visit, repo, state)
  const title = imported ? headingOf(imported) : 'Import'
  return importPage(repo, title, html`${said}${body}`, 200, imported?.status ?? 'none')
}

async function startPage(visit: SignedIn, repo: Repository, { submitted }: ViewState): Promise<Html> {
  const obstacle = await findObstacle(visit, repo)
  const intro = html`<h1>Import a repository</h1><p class="muted">Brings the whole history of a repository that is elsewhere into this one: its branches, tags, authors and files. Nothing is changed in the source.</p>`
  if (obstacle)
    return html`${intro}${alertOf(submitted?.errors ?? {})}<section class="card" aria-label="Why not">${obstacle}</section>`
  return html`${intro}${startForm(visit, repo, submitted, blank, 'Start import')}`
}

/** Why nothing can be imported into a repository, and what to do. */
async function findObstacle(visit: SignedIn, repo: Repository): Promise<Html | undefined> {
  if (repo.archived) {
    return html`<p><strong>This repository is archived.</strong> Nothing is added to it. Whoever runs it can take it out of the archive, or import into a new one.</p>`
  }
  if (await hasContents(visit.db, repo)) {
    return html`<p><strong>This repository is not empty.</strong> What is imported would mix with what is there. Make a new repository, without a first commit, and import into that one.</p>`
  }
  if (!repo.automation) return undefined
  const why = html`<p><strong>This repository has automation enabled.</strong> An import would set it off for everything that ever happened in the source.`
  if (repo.access < levelOf('admin')) return html`${why} Ask whoever runs the repository to disable it, then import.</p>`
  const button = html`<button class="primary">Disable automation</button>`
  return html`${why} Disable it, import, and enable it again.</p>${form(visit, `${importPath(repo)}/automation`, button, { class: 'inline' })}`
}

function headingOf(imported: Import): string {
  if (imported.status === 'complete') return 'Imported'
  if (imported.status === 'error') return 'The import failed'
  return isRunning(imported) ? 'Importing' : 'The import waits for you'
}

async function describe(visit: SignedIn, repo: Repository, imported: Import, { submitted, ...state }: ViewState): Promise<Html> {
  const { db } = visit
  const asked = state.look ?? readPosition(visit.query)
  const last = Math.max(1, Math.ceil(imported.large_files_count / filesPerPage))
  const files_page = Math.min(asked.files, last)
  const [files, { page, ...authors }, report] = await Promise.all([
    listShownFiles(db, imported, { limit: filesPerPage, offset: (files_page - 1) * filesPerPage }),
    pageOfAuthors(db, imported, asked),
    imported.status === 'complete' && imported.report ? loadReport(db, repo) : undefined,
  ])
  const look = { ...asked, page, files: files_page }
  const needed = repo.archived ? undefined : requiredAction({ visit, repo, imported, submitted })
  const { invalidAuthor } = state
  return html`<div class="heading"><h1 id="title" tabindex="-1">${headingOf(imported)}</h1><span id="live" class="live" hidden></span></div>
${!needed && alertOf(submitted?.errors ?? {})}${invalidAuthor?.errors[''] && alertOf(invalidAuthor.errors)}${repo.archived && html`<p class="error">This repository is archived: nothing is added to it.</p>`}
${stepList(imported)}${summary(imported, visit, repo)}${needed}${report && reportOf(report)}
${largeFiles({ visit, repo, imported, files, look })}${authorTable({ visit, repo, imported, ...authors, look, invalidAuthor })}${finalActions(visit, repo, imported)}`
}

/** The last page for whoever asks for one that is not there, as when fewer are found than before. */
async function pageOfAuthors(db: Queryable, imported: Import, { q, page }: ListPosition) {
  const slice = (number: number) => listShownAuthors(db, imported, q, { limit: perPage, offset: (number - 1) * perPage })
  const found = await slice(page)
  const last = Math.max(1, Math.ceil(found.total / perPage))
  return page > last ? { ...(await slice(last)), page: last } : { ...found, page }
}

function summary(imported: Import, visit: SignedIn, repo: Repository): Html {
  return html`${isRunning(imported) && progressBar(imported, visit.db.now)}${isWaiting(imported) && html`<p class="waiting">The import waits for your choice: <a href="#files">what is to become of large files?</a></p>`}
${imported.status === 'complete' && html`<p class="next"><a class="button primary" href="${pathOf(repo)}">Go to the repository</a></p>`}${factList(imported)}
${isUnderWay(imported.status) && html`<noscript><p><a href="${importPath(repo)}">Refresh</a> to see how far it has come.</p></noscript>`}`
}

/** What can be undone. What is under way, and what is done, is not dropped by one click. */
function finalActions(visit: SignedIn, repo: Repository, imported: Import): Html {
  const path = importPath(repo)
  const { status } = imported
  if (status === 'complete') {
    const again = resumeForm({ visit, repo, imported }, 'restart', html`<button id="restart">Import again</button>`)
    return html`<section class="danger-zone" aria-labelledby="ending-title"><h2 id="ending-title">Afterwards</h2>
${mayCorrect(imported) && !repo.archived && html`<p>Until somebody pushes, all of it can be fetched once more; it then replaces what was imported.</p><div class="buttons">${again}</div>`}
<p>When authors are as they should be, the import can be forgotten: what was imported stays, and the report and the list of authors go.</p><p><a class="button danger" id="cancel" href="${path}/cancel">Forget this import</a></p></section>`
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
          'The repository stays as it is. The report and the list of authors go, and authors cannot be corrected any more.',
          'Forget it',
          'Keep it',
        ]
      : [
          'Cancel this import?',
          'It stops at once, and all that was fetched is dropped. The repository stays as it was before.',
          'Cancel the import',
          'Go on with it',
        ]
  const buttons = html`<p class="buttons"><button class="danger">${button}</button> <a class="button" href="${path}">${keep}</a></p>`
  const body = html`<h1>${title}</h1><p class="address">${vcs_url}</p><p>${text} That cannot be taken back.</p>${form(visit, `${path}/cancel`, buttons)}`
  return importPage(repo, title, body)
}

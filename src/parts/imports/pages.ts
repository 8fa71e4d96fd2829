import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { setAutomation } from '#hosting/automation/automation.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { readBounded } from '#http/raw-body.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Kind } from '#importer/source.ts'
import type { InvalidAuthor } from '#parts/imports/views/authors.ts'
import {
  attemptForm,
  credentialsIn,
  type FieldErrors,
  invalidField,
  readFormValues,
  readNewImport,
} from '#parts/imports/views/form.ts'
import { importPage, importPath, loadTarget, positionUrl, readPosition, versionOf } from '#parts/imports/views/import-page.ts'
import { cancelPage, showImport } from '#parts/imports/views/import-view.ts'
import type { Submitted } from '#parts/imports/views/required-action.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import { typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn, submitFiles, submitOwn } from '#web/page.ts'
import { betweenLooks, mountPageStream } from '#web/page-stream.ts'
import { mapAuthor } from './authors.ts'
import { applyAuthorsCsv, longestCsv, writeAuthorsCsv } from './authors-csv.ts'
import { checkOpen, importDeps } from './availability.ts'
import { lockImportOf } from './import-store.ts'
import { cancelImport, type ImportChanges, startImport, updateImport } from './imports.ts'
import { setLfsPreference } from './large-files.ts'
import { readMark } from './page-queries.ts'

export const assets = join(import.meta.dirname, 'assets')

const route = '/:owner/:repo/import'

type Handler = (visit: SignedIn, repo: Repository) => Promise<Outcome>

export const pages: PageRoute[] = [
  showOwn(
    route,
    guarded((visit, repo) => showImport(visit, repo)),
  ),
  submitOwn(route, guarded(start)),
  submitOwn(`${route}/automation`, guarded(disableAutomation)),
  submitOwn(`${route}/credentials`, guarded(giveCredentials)),
  submitOwn(`${route}/project`, guarded(chooseProject)),
  submitOwn(`${route}/restart`, guarded(restart)),
  submitOwn(`${route}/lfs`, guarded(chooseLfs)),
  submitOwn(`${route}/authors/:author_id`, guarded(correct)),
  showOwn(`${route}/authors.csv`, guarded(downloadAuthors)),
  submitFiles(`${route}/authors.csv`, guarded(uploadAuthors)),
  showOwn(`${route}/cancel`, guarded(cancelPage)),
  submitOwn(`${route}/cancel`, guarded(cancel)),
]

/** Viewers who may not import get 404, also while imports are closed. */
function guarded(handler: Handler) {
  return async (visit: SignedIn): Promise<Outcome> => {
    const repo = await loadTarget(visit)
    try {
      checkOpen(visit.belfry.settings, selfHosted, visit.db.now)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const body = html`<h1>Import</h1><p class="error" role="alert">${error.message}</p>`
      return importPage(repo, 'Import', body, error.reason === 'gone' ? 410 : 503)
    }
    return handler(visit, repo)
  }
}

const doneAt = (repo: Repository, done: string) => ({ to: `${importPath(repo)}?done=${done}` })

/** Shows a refusal on the page, next to the values that were sent. */
function attempt(visit: SignedIn, repo: Repository, work: () => Promise<Outcome>, values?: Submitted['values']) {
  return attemptForm(work, (errors) => showImport(visit, repo, { submitted: { ...(values && { values }), errors } }))
}

function start(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const { belfry, visitor, form } = visit
  return attempt(
    visit,
    repo,
    async () => {
      const wanted = readNewImport(form)
      await visit.db.transaction((db) => startImport(db, importDeps(belfry), repo, visitor, wanted))
      return doneAt(repo, 'started')
    },
    readFormValues(form),
  )
}

async function disableAutomation(visit: SignedIn, repo: Repository): Promise<Outcome> {
  checkAccess(repo.access, 'admin')
  checkWritable(repo)
  await visit.db.transaction((db) => setAutomation(db, repo, false))
  return doneAt(repo, 'disabled')
}

/** A form of an outdated page changes nothing, so that two clicks do not restart an import twice. */
async function resume(
  visit: SignedIn,
  repo: Repository,
  changes: ImportChanges,
  done: 'resumed' | 'restarted',
): Promise<Outcome> {
  const gone = await visit.db.transaction(async (db) => {
    if (versionOf(await lockImportOf(db, repo)) !== visit.form.get('seen')) return false
    await updateImport(db, importDeps(visit.belfry), visit.visitor, repo, changes)
    return true
  })
  return doneAt(repo, gone ? done : 'meanwhile')
}

function giveCredentials(visit: SignedIn, repo: Repository): Promise<Outcome> {
  return attempt(
    visit,
    repo,
    async () => {
      const given = credentialsIn(visit.form)
      if (!Object.keys(given).length) throw invalidField('vcs_username', 'enter a user name, a password, or both')
      return resume(visit, repo, given, 'resumed')
    },
    readFormValues(visit.form),
  )
}

/** The form sends all keys of the choice, because the choices may have changed since the page was shown. */
function chooseProject(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const given = (name: string) => visit.form.get(name) ?? undefined
  return attempt(visit, repo, async () => {
    const [svn_root, tfvc_project, human_name] = [given('svn_root'), given('tfvc_project'), given('human_name')]
    if (human_name === undefined) throw invalidField('', 'choose one of the projects')
    return resume(visit, repo, { vcs: given('vcs') as Kind | undefined, svn_root, tfvc_project, human_name }, 'resumed')
  })
}

function restart(visit: SignedIn, repo: Repository): Promise<Outcome> {
  return attempt(visit, repo, () => resume(visit, repo, {}, 'restarted'))
}

function chooseLfs(visit: SignedIn, repo: Repository): Promise<Outcome> {
  return attempt(visit, repo, async () => {
    const use_lfs = visit.form.get('use_lfs')
    if (use_lfs !== 'opt_in' && use_lfs !== 'opt_out') throw invalidField('', 'choose how large files are stored')
    await visit.db.transaction((db) => setLfsPreference(db, visit.visitor, repo, use_lfs))
    return doneAt(repo, 'chosen')
  })
}

async function correct(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const text = visit.params.author_id ?? ''
  if (!/^[1-9]\d{0,14}$/.test(text)) throw missing()
  const id = Number(text)
  const [name, email] = [typed(visit.form, 'name'), typed(visit.form, 'email')]
  const position = readPosition(visit.form)
  const again = (errors: FieldErrors) => {
    const invalidAuthor: InvalidAuthor = { id, name, email, errors }
    return showImport(visit, repo, { invalidAuthor, position })
  }
  return attemptForm(
    async () => {
      await visit.db.transaction((db) => mapAuthor(db, repo, id, { name, email }))
      return { to: positionUrl(repo, position, `author-${id}`, 'corrected') }
    },
    again,
    ['name', 'email'],
  )
}

async function downloadAuthors({ db }: SignedIn, repo: Repository): Promise<Outcome> {
  const name = `${repo.name}-authors.csv`
  const headers = { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': `attachment; filename="${name}"` }
  return { file: Readable.from([await writeAuthorsCsv(db, repo)]), headers }
}

async function uploadAuthors(visit: SignedIn, repo: Repository): Promise<Outcome> {
  return attempt(visit, repo, async () => {
    let csv: string | undefined
    for await (const { content } of visit.upload?.files() ?? []) csv ??= await readBounded(content, longestCsv)
    if (csv === undefined) throw invalidField('', 'choose a CSV file')
    const given = csv
    await visit.db.transaction((db) => applyAuthorsCsv(db, repo, given))
    return { to: `${importPath(repo)}?done=mapped#authors` }
  })
}

async function cancel(visit: SignedIn, repo: Repository): Promise<Outcome> {
  await visit.db.transaction((db) => cancelImport(db, visit.visitor, repo))
  return doneAt(repo, 'cancelled')
}

/** Sends an event when the page would differ; the page then reloads itself. */
export function mountImportStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  const position = async (visitor: Account, params: Record<string, string>, from: string | null) => {
    const mark = await readMark(db, await loadTarget({ db, visitor, params }))
    return { news: from === null || mark === from ? [] : [{ id: null, data: {} }], bookmark: mark }
  }
  mountPageStream(listener, belfry, `${route}/stream`, position, betweenLooks)
}

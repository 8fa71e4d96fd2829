import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { setAutomation } from '#hosting/automation/automation.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Kind } from '#importer/source.ts'
import type { Mistyped } from '#parts/imports/views/authors.ts'
import { attemptForm, credentialsIn, filledBy, type Wrong, wantedIn, wrongly } from '#parts/imports/views/form.ts'
import type { Sent } from '#parts/imports/views/needs.ts'
import { importPage, importPath, loadTarget, lookAt, lookIn, seenOf } from '#parts/imports/views/places.ts'
import { cancelPage, showImport } from '#parts/imports/views/showing.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import { typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { betweenLooks, mountPageStream } from '#web/page-stream.ts'
import { mapAuthor } from './authors.ts'
import { checkOpen, meansOf } from './availability.ts'
import { holdImportOf } from './changing.ts'
import { cancelImport, type ImportChanges, startImport, updateImport } from './imports.ts'
import { setLfsPreference } from './large-files.ts'
import { readMark } from './looking.ts'

export const assets = join(import.meta.dirname, 'assets')

const place = '/:owner/:repo/import'

type Handler = (visit: SignedIn, repo: Repository) => Promise<Outcome>

export const pages: PageRoute[] = [
  showOwn(
    place,
    guarded((visit, repo) => showImport(visit, repo)),
  ),
  submitOwn(place, guarded(start)),
  submitOwn(`${place}/automation`, guarded(disableAutomation)),
  submitOwn(`${place}/credentials`, guarded(giveCredentials)),
  submitOwn(`${place}/project`, guarded(chooseProject)),
  submitOwn(`${place}/restart`, guarded(restart)),
  submitOwn(`${place}/lfs`, guarded(chooseLfs)),
  submitOwn(`${place}/authors/:author_id`, guarded(correct)),
  showOwn(`${place}/cancel`, guarded(cancelPage)),
  submitOwn(`${place}/cancel`, guarded(cancel)),
]

/** To those who may not import nothing is said, not even that imports are closed. */
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

/** What was refused is said on the page, beside what was typed. */
function attempt(visit: SignedIn, repo: Repository, work: () => Promise<Outcome>, filled?: Sent['filled']) {
  return attemptForm(work, (wrong) => showImport(visit, repo, { sent: { ...(filled && { filled }), wrong } }))
}

function start(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const { belfry, visitor, form } = visit
  return attempt(
    visit,
    repo,
    async () => {
      const wanted = wantedIn(form)
      await visit.db.transaction((db) => startImport(db, meansOf(belfry), repo, visitor, wanted))
      return doneAt(repo, 'started')
    },
    filledBy(form),
  )
}

async function disableAutomation(visit: SignedIn, repo: Repository): Promise<Outcome> {
  checkAccess(repo.access, 'admin')
  checkWritable(repo)
  await visit.db.transaction((db) => setAutomation(db, repo, false))
  return doneAt(repo, 'disabled')
}

/** What was decided on an older look is not done: two clicks, or two people, would have it begin twice. */
async function goOn(visit: SignedIn, repo: Repository, changes: ImportChanges, done: 'resumed' | 'restarted'): Promise<Outcome> {
  const gone = await visit.db.transaction(async (db) => {
    if (seenOf(await holdImportOf(db, repo)) !== visit.form.get('seen')) return false
    await updateImport(db, meansOf(visit.belfry), visit.visitor, repo, changes)
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
      if (!Object.keys(given).length) throw wrongly('vcs_username', 'type a user name, a password, or both')
      return goOn(visit, repo, given, 'resumed')
    },
    filledBy(visit.form),
  )
}

/** Which is meant is said by all that it is known by, so that nothing else is taken when others have been found meanwhile. */
function chooseProject(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const given = (name: string) => visit.form.get(name) ?? undefined
  return attempt(visit, repo, async () => {
    const [svn_root, tfvc_project, human_name] = [given('svn_root'), given('tfvc_project'), given('human_name')]
    if (human_name === undefined) throw wrongly('', 'choose one of the projects')
    return goOn(visit, repo, { vcs: given('vcs') as Kind | undefined, svn_root, tfvc_project, human_name }, 'resumed')
  })
}

function restart(visit: SignedIn, repo: Repository): Promise<Outcome> {
  return attempt(visit, repo, () => goOn(visit, repo, {}, 'restarted'))
}

function chooseLfs(visit: SignedIn, repo: Repository): Promise<Outcome> {
  return attempt(visit, repo, async () => {
    const use_lfs = visit.form.get('use_lfs')
    if (use_lfs !== 'opt_in' && use_lfs !== 'opt_out') throw wrongly('', 'choose what becomes of large files')
    await visit.db.transaction((db) => setLfsPreference(db, visit.visitor, repo, use_lfs))
    return doneAt(repo, 'chosen')
  })
}

async function correct(visit: SignedIn, repo: Repository): Promise<Outcome> {
  const text = visit.params.author_id ?? ''
  if (!/^[1-9]\d{0,14}$/.test(text)) throw missing()
  const id = Number(text)
  const [name, email] = [typed(visit.form, 'name'), typed(visit.form, 'email')]
  const look = lookIn(visit.form)
  const again = (wrong: Wrong) => {
    const mistyped: Mistyped = { id, name, email, wrong }
    return showImport(visit, repo, { mistyped, look })
  }
  return attemptForm(
    async () => {
      await visit.db.transaction((db) => mapAuthor(db, repo, id, { name, email }))
      return { to: lookAt(repo, look, `author-${id}`, 'corrected') }
    },
    again,
    ['name', 'email'],
  )
}

async function cancel(visit: SignedIn, repo: Repository): Promise<Outcome> {
  await visit.db.transaction((db) => cancelImport(db, visit.visitor, repo))
  return doneAt(repo, 'cancelled')
}

/** Tells the page that something changed; it then asks for itself again. */
export function mountImportStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  const look = async (visitor: Account, params: Record<string, string>, from: string | null) => {
    const mark = await readMark(db, await loadTarget({ db, visitor, params }))
    return { news: from === null || mark === from ? [] : [{ id: null, data: {} }], place: mark }
  }
  mountPageStream(listener, belfry, `${place}/stream`, look, betweenLooks)
}

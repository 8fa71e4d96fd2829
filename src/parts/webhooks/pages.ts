import { join } from 'node:path'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { checkWritable } from '#identity/access.ts'
import {
  attemptForm,
  blank,
  type FieldErrors,
  type HookFormValues,
  hookFields,
  readHookForm,
  valuesFromForm,
  valuesFromHook,
} from '#parts/webhooks/views/form.ts'
import {
  changeHook,
  type HookVisit,
  hookPage,
  hookPath,
  hookPaths,
  loadHookVisit,
  loadTarget,
  type TargetVisit,
  targetPage,
} from '#parts/webhooks/views/hook-page.ts'
import { hookList, pausedNote, perPage } from '#parts/webhooks/views/list.ts'
import { confirmed } from '#web/confirm-password.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { note } from '#web/settings.ts'
import { createHook, hookDepsOf } from './create.ts'
import { deleteHook } from './delete.ts'
import { pingHook } from './hook-events.ts'
import type { HookTarget } from './hook-target.ts'
import { type Hook, listHooks, loadHook } from './hooks.ts'
import { openSecrets } from './secrets.ts'
import { resumeHook } from './throttling.ts'
import { updateHook } from './update.ts'

export const assets = join(import.meta.dirname, 'assets')

const ping = changeHook('pinged', (db, { target, hook }, { visitor }) => pingHook(db, visitor, target, hook))
const resume = changeHook('resumed', (db, { hook }) => resumeHook(db, hook))

export const pages: PageRoute[] = hookPaths.flatMap((path) => [
  showOwn(path, listPage),
  showOwn(`${path}/new`, async (visit) => newPage(visit, await loadTarget(visit))),
  submitOwn(`${path}/new`, confirmed(create)),
  showOwn(`${path}/:hook_id/edit`, async (visit) => editPage(visit, await loadHookVisit(visit))),
  submitOwn(`${path}/:hook_id/edit`, confirmed(update)),
  showOwn(`${path}/:hook_id/delete`, async (visit) => deletePage(visit, await loadHookVisit(visit))),
  submitOwn(`${path}/:hook_id/delete`, remove),
  submitOwn(`${path}/:hook_id/pings`, ping),
  submitOwn(`${path}/:hook_id/resume`, resume),
])

async function listPage(visit: SignedIn): Promise<Outcome> {
  const found = await loadTarget(visit)
  const page = pageIn(visit.query)
  const hooks = await listHooks(visit.db, found.target, { limit: perPage, offset: (page - 1) * perPage })
  const deleted = visit.query.get('done') === 'deleted' ? 'The webhook is deleted.' : undefined
  return targetPage(found, 'Webhooks', html`${note(deleted)}${hookList(found, hooks, page, visit.db.now)}`)
}

function newPage(visit: SignedIn, found: TargetVisit, filled: HookFormValues = blank, wrong?: FieldErrors): Outcome {
  const title = 'Add webhook'
  const intro = html`<h1>${title}</h1>
<p class="muted">When you add an active webhook, Belfry sends it a <code>ping</code>, so you see at once whether the receiver responds.</p>`
  return targetPage(
    found,
    title,
    html`${intro}${hookForm(visit, found.target.type, `${found.path}/new`, { filled, hook: null, wrong, button: title })}`,
    wrong && 422,
  )
}

interface Shown {
  filled: HookFormValues
  hook: Hook | null
  wrong: FieldErrors | undefined
  button: string
}

function hookForm(visit: SignedIn, target: HookTarget['type'], path: string, { filled, hook, wrong = {}, button }: Shown): Html {
  const body = html`${hookFields(target, filled, hook, visit.db.now, wrong)}<p class="buttons"><button class="primary">${button}</button></p>`
  return form(visit, path, body, { class: 'form hook-form' })
}

async function create(visit: SignedIn): Promise<Outcome> {
  const found = await loadTarget(visit)
  if (found.repo) checkWritable(found.repo)
  return attemptForm(
    async () => {
      const { config, secret, active, events } = readHookForm(visit.form)
      const wanted = { config: { ...config, secret: secret ?? null }, active, events }
      const hook = await visit.db.transaction((db) =>
        createHook(db, visit.visitor, found.target, wanted, hookDepsOf(visit.belfry)),
      )
      return { to: `${hookPath({ ...found, hook })}?done=${hook.active ? 'created' : 'inactive'}` }
    },
    (wrong) => newPage(visit, found, valuesFromForm(visit.form), wrong),
  )
}

function editPage(visit: SignedIn, visited: HookVisit, sent?: { filled: HookFormValues; wrong: FieldErrors }): Outcome {
  const { hook } = visited
  const saved = !sent && visit.query.get('done') === 'saved' ? 'Saved.' : undefined
  const shown = { filled: sent?.filled ?? valuesFromHook(hook), hook, wrong: sent?.wrong, button: 'Save webhook' }
  const paused = pausedNote(hook)
  const body = html`${note(saved)}${paused}${hookForm(visit, visited.target.type, `${hookPath(visited)}/edit`, shown)}
<section class="danger-zone" aria-labelledby="deleting"><h2 id="deleting">Delete</h2><p>Nothing more is sent, and pending deliveries are dropped.</p>
<p><a class="button danger" href="${hookPath(visited)}/delete">Delete webhook</a></p></section>`
  return hookPage(visited, '/edit', 'Settings', body, sent && 422)
}

async function update(visit: SignedIn): Promise<Outcome> {
  const visited = await loadHookVisit(visit)
  const { target } = visited
  return attemptForm(
    async () => {
      const { config, secret: wanted, ...changes } = readHookForm(visit.form)
      await visit.db.transaction(async (db) => {
        const present = await loadHook(db, target, visited.hook.id)
        // A config replaces the whole former config, so a kept secret is passed again.
        const secret = wanted === undefined ? openSecrets(visit.belfry.vault, present, db.now).secret : wanted
        await updateHook(
          db,
          visit.visitor,
          target,
          present.id,
          { config: { ...config, secret }, ...changes },
          hookDepsOf(visit.belfry),
        )
      })
      return { to: `${hookPath(visited)}/edit?done=saved` }
    },
    (wrong) => editPage(visit, visited, { filled: valuesFromForm(visit.form), wrong }),
  )
}

function deletePage(visit: SignedIn, visited: HookVisit): Outcome {
  const buttons = html`<p class="buttons"><button class="danger">Delete this webhook</button> <a class="button" href="${hookPath(visited)}/edit">Cancel</a></p>`
  const body = html`<h2>Delete this webhook?</h2><p>Nothing more is sent to <code>${visited.hook.url}</code>, pending deliveries are dropped, and past deliveries are no longer
shown. You cannot undo this.</p>${form(visit, `${hookPath(visited)}/delete`, buttons)}`
  return hookPage(visited, null, 'Delete', body)
}

async function remove(visit: SignedIn): Promise<Outcome> {
  const { target, hook, path } = await loadHookVisit(visit)
  await visit.db.transaction((db) => deleteHook(db, visit.visitor, target, hook.id))
  return { to: `${path}?done=deleted` }
}

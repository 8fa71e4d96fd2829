import type { App } from '#identity/apps.ts'
import { loadOwnApp } from '#parts/apps/apps.ts'
import { changeAppAccess } from '#parts/apps/update.ts'
import { accessAsForm, accessFields, readAccess } from '#parts/apps/views/access-fields.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { settingsPage } from '#web/settings.ts'

const path = '/settings/apps'

export const pages: PageRoute[] = [
  showOwn(`${path}/:slug/permissions`, async (visit) => {
    const app = await loadOwn(visit)
    return formPage(visit, app, accessAsForm(app))
  }),
  submitOwn(`${path}/:slug/permissions`, confirmed(change)),
]

const loadOwn = (visit: SignedIn) => loadOwnApp(visit.db, visit.visitor, visit.params.slug ?? '')

function formPage(visit: SignedIn, app: App, kept: URLSearchParams, problem?: Problem): Outcome {
  const body = html`<p>An account that installed the app loses at once what it no longer asks for. What it asks for in addition needs to be accepted
by the account, on the page of the installation.</p>
${form(visit, `${path}/${app.slug}/permissions`, html`${alert(problem)}${accessFields(kept, app.permissions)}<button class="primary">Save</button>`)}`
  return settingsPage(path, `Permissions of ${app.name}`, body, problem?.status)
}

async function change(visit: SignedIn): Promise<Outcome> {
  const app = await loadOwn(visit)
  return attempt(
    async () => {
      await visit.db.transaction((db) => changeAppAccess(db, visit.visitor, app, readAccess(visit.form)))
      return { to: `${path}/${app.slug}`, flash: { done: 'The permissions and events are saved.' } }
    },
    (problem) => formPage(visit, app, visit.form, problem),
  )
}

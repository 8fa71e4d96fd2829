import { button, buttonLink } from '#web/components/button.ts'
import { banner } from '#web/components/toast.ts'
import { choice } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { settingsPage } from '#web/settings.ts'
import { findPreferences, savePreferences } from './preferences.ts'

const place = '/settings/notifications'

export const pages: PageRoute[] = [showOwn(place, preferencesPage), submitOwn(place, save)]

async function preferencesPage(visit: SignedIn): Promise<Outcome> {
  const { watches_created, watches_given } = await findPreferences(visit.db, visit.visitor)
  const inputs = html`<fieldset><legend>Watch automatically</legend>
${choice({ name: 'created', value: 'on', chosen: watches_created }, 'Repositories that I create')}
${choice({ name: 'given', value: 'on', chosen: watches_given }, 'Repositories that I am given push access to')}
<p class="hint muted">Repositories that you watch already stay watched. You can change each on its page.</p></fieldset>
${button('Save', { kind: 'primary' })}`
  const body = html`${banner(visit.flash.done)}<p>Notifications come to your inbox: of everything in the repositories that you watch, and of every thread that you take part in or that mentions you.</p>
<p class="buttons">${buttonLink('Open the inbox', '/notifications', { icon: 'inbox' })}${buttonLink('Watched repositories', '/watching', { icon: 'eye' })}</p>${form(visit, place, inputs)}
<h2>Taking part</h2><p>You are always notified when you are mentioned, assigned or asked for a review, and of answers in threads that you wrote in. To leave one thread, choose Unsubscribe on its page; to hear of mentions only, mute it in the inbox. To leave a repository altogether, choose Ignore in its Watch menu.</p>`
  return settingsPage(place, 'Notifications', body)
}

async function save(visit: SignedIn): Promise<Outcome> {
  await savePreferences(visit.db, visit.visitor, {
    watches_created: visit.form.has('created'),
    watches_given: visit.form.has('given'),
  })
  return { to: place, flash: { done: 'Your preferences are saved.' } }
}

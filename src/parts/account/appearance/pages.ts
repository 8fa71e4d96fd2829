import { button } from '#web/components/button.ts'
import { banner } from '#web/components/toast.ts'
import { choice } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, isSecure, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { type Preferences, readPreferences, writePreferences } from '#web/preferences.ts'
import { settingsPage } from '#web/settings.ts'

const place = '/settings/appearance'

export const pages: PageRoute[] = [showOwn(place, appearancePage), submitOwn(place, save)]

const colors: Record<Preferences['color'], string> = { auto: 'As my device is set', light: 'Light', dark: 'Dark' }

function appearancePage(visit: SignedIn): Outcome {
  const { color, keys } = readPreferences(visit.request)
  const inputs = html`<fieldset><legend>Colours</legend>${Object.entries(colors).map(([value, text]) =>
    choice({ name: 'color', value, type: 'radio', chosen: value === color }, text),
  )}</fieldset>
<fieldset><legend>Keyboard</legend>${choice({ name: 'keys', value: 'on', chosen: keys === 'on' }, html`<span>Single keys act, as <kbd>/</kbd> for search and <kbd>?</kbd> for the list of keys</span>`)}
<p class="hint muted">Turn this off if you dictate, or use a screen reader that needs the keys. <kbd>Ctrl</kbd> <kbd>K</kbd> works all the same.</p></fieldset>
${button('Save', { kind: 'primary' })}`
  return settingsPage(
    place,
    'Appearance',
    html`${banner(visit.flash.done)}<p>These settings are for this browser.</p>${form(visit, place, inputs)}`,
  )
}

function save(visit: SignedIn): Outcome {
  const color = (Object.keys(colors) as Preferences['color'][]).find((one) => one === visit.form.get('color')) ?? 'auto'
  writePreferences(visit.reply, { color, keys: visit.form.has('keys') ? 'on' : 'off' }, isSecure(visit.belfry))
  return { to: place, flash: { done: 'Saved.' } }
}

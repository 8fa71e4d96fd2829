import type { Hook } from '#parts/webhooks/hooks.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { choice, field, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome } from '#web/page.ts'
import { moment } from '#web/settings.ts'
import { eventPicker, type Pick, pickedEvents, pickOf, picks } from './events.ts'

/** What stands in the form of a webhook. The secret is never among it. */
export interface HookFormValues {
  url: string
  content_type: string
  insecure_ssl: boolean
  active: boolean
  pick: Pick
  events: string[]
  secret: SecretWish
  /** Whether a secret was typed, which is not kept. */
  lost_secret?: boolean
}

type SecretWish = 'keep' | 'replace' | 'remove'

export const blank: HookFormValues = {
  url: '',
  content_type: 'json',
  insecure_ssl: false,
  active: true,
  pick: 'push',
  events: ['push'],
  secret: 'replace',
}

export function valuesFromHook({ url, content_type, insecure_ssl, active, events, secret }: Hook): HookFormValues {
  return { url, content_type, insecure_ssl, active, pick: pickOf(events), events, secret: secret ? 'keep' : 'replace' }
}

/** As it was sent, to be shown again. */
export function valuesFromForm(given: URLSearchParams): HookFormValues {
  const pick = given.get('pick') ?? ''
  const secret = given.get('secret_wish')
  return {
    url: typed(given, 'url'),
    content_type: typed(given, 'content_type'),
    insecure_ssl: given.get('insecure_ssl') === '1',
    active: given.get('active') === '1',
    pick: pick in picks ? (pick as Pick) : 'push',
    events: given.getAll('events'),
    secret: secret === 'keep' || secret === 'remove' ? secret : 'replace',
    lost_secret: Boolean(given.get('secret')),
  }
}

/** What the verbs take. The secret is undefined to keep it, null to have none. */
export function readHookForm(given: URLSearchParams) {
  const { url, content_type, insecure_ssl, active, secret: wish } = valuesFromForm(given)
  const written = (given.get('secret') ?? '').replaceAll('\0', '')
  const secret = wish === 'keep' ? undefined : wish === 'remove' || written === '' ? null : written
  const events = pickedEvents(given)
  if (given.get('secret_wish') === 'replace' && written === '')
    throw wrongly('secret', 'type the new secret, or choose to remove it')
  if (!events.length) throw wrongly('events', 'choose one at least')
  checkLengths({
    url: url.length,
    secret: written.length,
    events: Math.max(events.length, ...events.map(({ length }) => length)),
  })
  return { config: { url, content_type, insecure_ssl: insecure_ssl ? '1' : '0' }, secret, active, events }
}

const wrongly = (field: string, message: string) => invalid({ resource: 'Hook', code: 'custom', field, message })

/** As the interface has them. */
const longest = { url: 2048, secret: 1024, events: 250 }

function checkLengths(lengths: typeof longest) {
  const tooLong = Object.entries(longest).filter(([name, most]) => lengths[name as keyof typeof longest] > most)
  const faults = tooLong.map(([field, most]) => ({
    resource: 'Hook',
    code: 'custom' as const,
    field,
    message: `${field} is longer than ${most}`,
  }))
  if (faults.length) throw invalid(...faults)
}

/** What is wrong, by the field that it is wrong with; under the empty name what is of none. */
export type FieldErrors = Record<string, string>

const fields = ['url', 'content_type', 'secret', 'insecure_ssl', 'active', 'events']

/** Shows the form again when what was typed is refused. */
export async function attemptForm(work: () => Promise<Outcome>, again: (wrong: FieldErrors) => Outcome): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'invalid') throw error
    return again(fieldErrorsOf(error))
  }
}

function fieldErrorsOf({ message, faults = [] }: Refusal): FieldErrors {
  const wrong: FieldErrors = {}
  for (const fault of faults) {
    const named = fault.field?.replace(/^config[./]/, '') ?? ''
    const place = fields.find((name) => named === name || named.startsWith(`${name}/`)) ?? placeIn(fault.message)
    const text = sentence(
      inWords(fault.message, place) ?? (fault.code === 'missing_field' ? 'This is needed' : 'This cannot be taken'),
    )
    wrong[place] = wrong[place] ? `${wrong[place]} ${text}` : text
  }
  return faults.length ? wrong : { '': sentence(message) }
}

/** What speaks of an event without naming its field. */
const placeIn = (message = '') => (/\bevents?\b/.test(message) ? 'events' : '')

/** Beside the field, its name need not be said again. */
const inWords = (message: string | undefined, place: string) =>
  message?.replace(/^url is not supported because /, '').replace(place ? new RegExp(`^${place} `) : /^$/, 'this ')

function sentence(text: string) {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

/** All but the button. */
export function hookFields(filled: HookFormValues, hook: Hook | null, now: Date, wrong: FieldErrors): Html {
  const count = Object.keys(wrong).length
  return html`${count > 0 && html`<p class="error" role="alert">${wrong[''] ?? (count === 1 ? 'Something is not right yet: see below.' : `${count} things are not right yet: see below.`)}</p>`}
${field({ label: 'Payload URL', name: 'url', type: 'url', value: filled.url, required: true, longest: longest.url, error: wrong.url, hint: 'An http or https address; or belfry:listen, to receive by the command “belfry listen” on your own machine.' })}
<fieldset><legend>Content type</legend>${wrongWith('content_type', wrong)}
${contentTypes.map(([value, text]) => choice({ name: 'content_type', value, type: 'radio', chosen: filled.content_type === value }, text))}</fieldset>
${secretFields(filled, hook, now, wrong)}
<fieldset><legend>SSL verification</legend>${wrongWith('insecure_ssl', wrong)}
${choice({ name: 'insecure_ssl', value: '0', type: 'radio', chosen: !filled.insecure_ssl }, "Check the receiver's certificate")}
${choice({ name: 'insecure_ssl', value: '1', type: 'radio', chosen: filled.insecure_ssl }, explained('Do not check it', 'Anyone on the way could read what is sent.'))}</fieldset>
${eventPicker(filled.pick, filled.events, wrong.events)}
<fieldset><legend>In use</legend>${wrongWith('active', wrong)}
${choice({ name: 'active', value: '1', chosen: filled.active }, explained('Active', 'Requests are sent when something happens.'))}</fieldset>`
}

const contentTypes: [string, Html][] = [
  ['json', explained(html`<code>application/json</code>`, 'The payload is the body.')],
  ['form', explained(html`<code>application/x-www-form-urlencoded</code>`, 'The payload is a field named payload.')],
]

function explained(label: Html | string, hint: string): Html {
  return html`<span>${label} <span class="hint muted">${hint}</span></span>`
}

const wrongWith = (name: string, wrong: FieldErrors) =>
  wrong[name] && html`<p class="field-error" id="${name}-error">${wrong[name]}</p>`

const secretUse = 'Signs each request, so that the receiver can tell that it comes from here. It is never shown again.'

/** What is there is neither shown nor sent back: it is kept, replaced or removed. */
function secretFields(
  { secret: wish, lost_secret = false }: HookFormValues,
  hook: Hook | null,
  now: Date,
  wrong: FieldErrors,
): Html {
  const hint = lost_secret ? 'Type it again: a secret is not kept in a form.' : secretUse
  const input = (label: string) =>
    field({
      label,
      name: 'secret',
      type: 'password',
      autocomplete: 'new-password',
      longest: longest.secret,
      error: wrong.secret,
      hint,
    })
  if (!hook?.secret) return input('Secret')
  const { former_secret_until: until } = hook
  const former =
    until &&
    until > now &&
    html`<p class="hint">The former secret signs too until ${moment(until)}, in <code>webhook-signature</code>.</p>`
  return html`<fieldset class="secret-wish"><legend>Secret</legend>
${choice({ name: 'secret_wish', value: 'keep', type: 'radio', chosen: wish === 'keep' }, 'Keep the present secret')}
${choice({ name: 'secret_wish', value: 'replace', type: 'radio', chosen: wish === 'replace' }, explained('Replace it', 'The former one signs too for a day, so that receivers can change over.'))}
<div class="new-secret">${input('New secret')}</div>
${choice({ name: 'secret_wish', value: 'remove', type: 'radio', chosen: wish === 'remove' }, explained('Remove it', 'Requests are no longer signed.'))}${former}</fieldset>`
}

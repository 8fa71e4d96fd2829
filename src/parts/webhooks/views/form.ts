import { wrong } from '#parts/webhooks/config.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import type { Hook } from '#parts/webhooks/hooks.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { moment } from '#web/components/time.ts'
import { choice, field, sentence, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome } from '#web/page.ts'
import { eventPicker, type Pick, pickedEvents, pickOf, picks } from './events.ts'

/** The values of the form. The secret is never shown. */
export interface HookFormValues {
  url: string
  content_type: string
  insecure_ssl: boolean
  active: boolean
  pick: Pick
  events: string[]
  secret: SecretChoice
  /** A secret was typed in a form that is shown again, and must be typed again. */
  lost_secret?: boolean
}

type SecretChoice = 'keep' | 'replace' | 'remove'

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

/** The submitted values, to show the form again. */
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

/** The input for createHook and updateHook. An undefined secret is kept; null removes it. */
export function readHookForm(given: URLSearchParams) {
  const { url, content_type, insecure_ssl, active, secret: wish } = valuesFromForm(given)
  const written = (given.get('secret') ?? '').replaceAll('\0', '')
  const secret = wish === 'keep' ? undefined : wish === 'remove' || written === '' ? null : written
  const events = pickedEvents(given)
  if (given.get('secret_wish') === 'replace' && written === '')
    throw wrong('secret', 'type the new secret, or choose to remove it')
  if (!events.length) throw wrong('events', 'choose at least one')
  checkLengths({
    url: url.length,
    secret: written.length,
    events: Math.max(events.length, ...events.map(({ length }) => length)),
  })
  return { config: { url, content_type, insecure_ssl: insecure_ssl ? '1' : '0' }, secret, active, events }
}

/** The limits of the API. */
const longest = { url: 2048, secret: 1024, events: 250 }

function checkLengths(lengths: typeof longest) {
  const tooLong = Object.entries(longest).filter(([name, most]) => lengths[name as keyof typeof longest] > most)
  const faults = tooLong.flatMap(([field, most]) => wrong(field, `${field} is longer than ${most}`).faults ?? [])
  if (faults.length) throw invalid(...faults)
}

/** Error messages by field. Those without a field have the empty name. */
export type FieldErrors = Record<string, string>

const fields = ['url', 'content_type', 'secret', 'insecure_ssl', 'active', 'events']

/** Shows the form again when the input is refused. */
export async function attemptForm(work: () => Promise<Outcome>, again: (wrong: FieldErrors) => Outcome): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'invalid') throw error
    return again(fieldErrorsOf(error))
  }
}

function fieldErrorsOf({ message, faults = [] }: Refusal): FieldErrors {
  const errors: FieldErrors = {}
  for (const fault of faults) {
    const named = fault.field?.replace(/^config[./]/, '') ?? ''
    const field = fields.find((name) => named === name || named.startsWith(`${name}/`)) ?? fieldIn(fault.message)
    const text = sentence(
      inWords(fault.message, field) ?? (fault.code === 'missing_field' ? 'This field is required' : 'This value is not valid'),
    )
    errors[field] = errors[field] ? `${errors[field]} ${text}` : text
  }
  return faults.length ? errors : { '': sentence(message) }
}

/** Messages about events do not name their field. */
const fieldIn = (message = '') => (/\bevents?\b/.test(message) ? 'events' : '')

/** The message is shown beside the field, so the field's name is left out. */
const inWords = (message: string | undefined, field: string) =>
  message?.replace(/^url is not supported because /, '').replace(field ? new RegExp(`^${field} `) : /^$/, 'this ')

export function hookFields(
  target: HookTarget['type'],
  filled: HookFormValues,
  hook: Hook | null,
  now: Date,
  wrong: FieldErrors,
): Html {
  const count = Object.keys(wrong).length
  return html`${count > 0 && html`<p class="error" role="alert">${wrong[''] ?? (count === 1 ? 'One field is not valid. See below.' : `${count} fields are not valid. See below.`)}</p>`}
${field({ label: 'Payload URL', name: 'url', type: 'url', value: filled.url, required: true, longest: longest.url, error: wrong.url, hint: 'An http or https address, or belfry:listen to receive deliveries with the command “belfry listen” on your machine.' })}
<fieldset><legend>Content type</legend>${wrongWith('content_type', wrong)}
${contentTypes.map(([value, text]) => choice({ name: 'content_type', value, type: 'radio', chosen: filled.content_type === value }, text))}</fieldset>
${secretFields(filled, hook, now, wrong)}
<fieldset><legend>SSL verification</legend>${wrongWith('insecure_ssl', wrong)}
${choice({ name: 'insecure_ssl', value: '0', type: 'radio', chosen: !filled.insecure_ssl }, "Check the receiver's certificate")}
${choice({ name: 'insecure_ssl', value: '1', type: 'radio', chosen: filled.insecure_ssl }, explained('Do not check it', 'Anyone on the network path could read the deliveries.'))}</fieldset>
${eventPicker(target, filled, wrong.events)}
<fieldset><legend>Status</legend>${wrongWith('active', wrong)}
${choice({ name: 'active', value: '1', chosen: filled.active }, explained('Active', 'Requests are sent when an event happens.'))}</fieldset>`
}

const contentTypes: [string, Html][] = [
  ['json', explained(html`<code>application/json</code>`, 'The body is the payload.')],
  ['form', explained(html`<code>application/x-www-form-urlencoded</code>`, 'The payload is in the field payload.')],
]

function explained(label: Html | string, hint: string): Html {
  return html`<span>${label} <span class="hint muted">${hint}</span></span>`
}

const wrongWith = (name: string, wrong: FieldErrors) =>
  wrong[name] && html`<p class="field-error" id="${name}-error">${wrong[name]}</p>`

const secretUse = 'Signs each request, so that the receiver can verify the sender. It is never shown again.'

/** A stored secret is not sent to the page. The user keeps, replaces or removes it. */
function secretFields(
  { secret: wish, lost_secret = false }: HookFormValues,
  hook: Hook | null,
  now: Date,
  wrong: FieldErrors,
): Html {
  const hint = lost_secret ? 'Type the secret again, because the form does not keep it.' : secretUse
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
    html`<p class="hint">The former secret also signs until ${moment(until)}, in <code>webhook-signature</code>.</p>`
  return html`<fieldset class="secret-wish"><legend>Secret</legend>
${choice({ name: 'secret_wish', value: 'keep', type: 'radio', chosen: wish === 'keep' }, 'Keep the current secret')}
${choice({ name: 'secret_wish', value: 'replace', type: 'radio', chosen: wish === 'replace' }, explained('Replace it', 'The former one also signs for a day, so that receivers can switch.'))}
<div class="new-secret">${input('New secret')}</div>
${choice({ name: 'secret_wish', value: 'remove', type: 'radio', chosen: wish === 'remove' }, explained('Remove it', 'Requests are no longer signed.'))}${former}</fieldset>`
}

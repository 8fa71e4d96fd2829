import { fillIn } from '#activity/outbox/addresses.ts'
import { largest, storeDeliveries } from '#activity/outbox/outbox.ts'
import { hookPage, hookPath, hookPaths, idIn, loadHookVisit } from '#parts/webhooks/views/hook-page.ts'
import { compareLines } from '#parts/webhooks/views/payload-comparison.ts'
import { invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/json.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { alert, attempt, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { listDeliveries, loadDelivery } from './deliveries.ts'

export const pages: PageRoute[] = hookPaths.flatMap((path) => [
  showOwn(`${path}/:hook_id/deliveries/:delivery_id/edit`, (visit) => editPage(visit)),
  submitOwn(`${path}/:hook_id/deliveries/:delivery_id/edit`, send),
  showOwn(`${path}/:hook_id/deliveries/:delivery_id/compare`, comparePage),
])

async function loadShown(visit: SignedIn) {
  const visited = await loadHookVisit(visit)
  const delivery = await loadDelivery(visit.db, visited.hook, idIn(visit.params.delivery_id))
  const payload = delivery.body === null ? '' : indented(fillIn(delivery.body, visit.belfry.addresses.web))
  return { visited, delivery, payload, path: `${hookPath(visited)}/deliveries/${delivery.id}` }
}

const indented = (text: string) => JSON.stringify(JSON.parse(text), null, 2)

/** A longer payload is edited with the API: a text field of megabytes helps nobody. */
const longestEdited = 500_000

async function editPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const { visited, delivery, payload, path } = await loadShown(visit)
  const text = problem ? (visit.form.get('payload') ?? '') : payload
  const body =
    payload.length > longestEdited
      ? html`<p class="error">This payload is too large to be edited here.</p>`
      : form(
          visit,
          `${path}/edit`,
          html`${alert(problem)}<label for="payload">Payload</label><textarea id="payload" name="payload" class="payload-text" rows="28" spellcheck="false" required>${text}</textarea>
<p class="hint muted">It is signed and sent to the webhook’s present address as a new delivery of the event ${delivery.event}.</p>
<p class="buttons">${button('Send', { kind: 'primary' })}${buttonLink('Cancel', path)}</p>`,
        )
  return hookPage(visited, '', 'Send an edited payload', html`<h2>Send an edited payload</h2>${body}`, problem?.status)
}

function send(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const { visited, delivery } = await loadShown(visit)
      const body = readPayload(visit.form.get('payload') ?? '')
      const hook = { ...visited.hook, installation_id: null }
      await visit.db.transaction((db) =>
        storeDeliveries(db, delivery.repo_id, [{ event: delivery.event, action: delivery.action, body, hooks: [hook] }], {
          requested: !hook.active,
        }),
      )
      return { to: `${hookPath(visited)}?done=again` }
    },
    (problem) => editPage(visit, problem),
  )
}

function readPayload(text: string): string {
  const refuse = (message: string) => invalid({ resource: 'Hook', code: 'custom', message })
  if (text.length > Math.min(longestEdited, largest)) throw refuse('The payload is too large')
  try {
    const value: unknown = parseJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return JSON.stringify(value)
  } catch {
    // Refused below.
  }
  throw refuse('The payload must be a JSON object')
}

/** How many other deliveries the page offers to compare with. */
const offered = 30

async function comparePage(visit: SignedIn): Promise<Outcome> {
  const { visited, delivery, payload, path } = await loadShown(visit)
  const { rows } = await listDeliveries(visit.db, visited.hook, { status: null, cursor: null, limit: offered })
  const others = rows.filter(({ id }) => id !== delivery.id)
  const chosen = visit.query.get('with')
  const other = chosen === null ? undefined : await loadDelivery(visit.db, visited.hook, idIn(chosen))
  const options = others.map(
    ({ id, event, action, delivered_at, status_code }) =>
      html`<option value="${id}"${id === other?.id && html` selected`}>${event}${action && `.${action}`}, ${delivered_at.toISOString().slice(0, 19).replace('T', ' ')} UTC, ${status_code}</option>`,
  )
  const choose = html`<form method="get" action="${path}/compare" class="buttons"><label for="with">Compare with</label><select id="with" name="with">${options}</select>${button('Compare')}</form>`
  const shown =
    other && compareLines(payload, other.body === null ? '' : indented(fillIn(other.body, visit.belfry.addresses.web)))
  return hookPage(
    visited,
    '',
    'Compare deliveries',
    html`<h2>Compare two deliveries</h2><p><a href="${path}">${delivery.event}${delivery.action && `.${delivery.action}`} ${delivery.guid}</a></p>${others.length ? choose : html`<p class="muted">There is no other delivery.</p>`}${shown}`,
  )
}

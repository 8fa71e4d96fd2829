import type { Delivery, FullDelivery } from '#parts/webhooks/deliveries/deliveries.ts'
import { parseJson } from '#platform/json.ts'
import { jsonText } from '#web/components/json-text.ts'
import { type Html, html } from '#web/html.ts'
import { exactTime, formatDuration, outcomeMark, outcomeText, signOf } from './outcome-marks.ts'

const nameOf = ({ event, action }: Pick<Delivery, 'event' | 'action'>) => (action ? `${event}.${action}` : event)

export function deliveryRow(delivery: Delivery, path: string, repository: string | undefined): Html {
  const { id, guid, redelivery, throttled_at, delivered_at, duration } = delivery
  return html`<li data-id="${id}"><div class="row-head"><a class="title" href="${path}/deliveries/${id}">${nameOf(delivery)}</a> ${repository && html`<span class="muted">${repository}</span> `}
${redelivery && html`<span class="badge">redelivery</span>`}${throttled_at && html` <span class="badge">was postponed</span>`} <code class="guid">${guid}</code></div>
<p class="row-end">${outcomeMark(signOf(delivery), outcomeText(delivery))} <span class="took">${formatDuration(duration)}</span> <span class="muted">${exactTime(delivered_at)}</span></p></li>`
}

/** The payload is null when it was too large to be sent. */
interface Exchange extends Omit<FullDelivery, 'body'> {
  payload: string | null
}

type Headers = Record<string, string | string[]>

/** Request and response, side by side on wide screens. */
export function exchangePanes(exchange: Exchange): Html {
  return html`<div class="exchange"><section aria-labelledby="request">${requestPane(exchange)}</section><section aria-labelledby="response">${responsePane(exchange)}</section></div>`
}

function requestPane({ url, request_headers, payload }: Exchange): Html {
  const as_form = request_headers['content-type'] !== 'application/json'
  const body = payload === null ? html`<p class="muted">The payload was too large to be sent.</p>` : bodyOf('Payload', payload)
  return html`<h2 id="request">Request</h2><p class="line"><span class="verb">POST</span> <code>${url}</code></p>${headerTable('Request headers', request_headers)}
<h3>Payload</h3>${as_form && html`<p class="muted">Sent as a form in the field <code>payload</code>.</p>`}${body}`
}

function responsePane(exchange: Exchange): Html {
  const { response_headers, response_body, duration, status } = exchange
  const answered = response_headers !== null || response_body !== null
  const body = response_body ? bodyOf('Body', response_body) : html`<p class="muted">The body was empty.</p>`
  return html`<h2 id="response">Response</h2><p class="line">${outcomeMark(signOf(exchange), outcomeText(exchange))} <span class="muted">after ${formatDuration(duration)}</span></p>
${answered ? html`${headerTable('Response headers', response_headers ?? {})}<h3>Body</h3>${body}` : html`<p class="muted">There was no response: ${status}.</p>`}`
}

function headerTable(label: string, headers: Headers): Html {
  const rows = Object.entries(headers).map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td><code>${String(value)}</code></td></tr>`,
  )
  return html`<h3>Headers</h3><div class="headers" tabindex="0" role="group" aria-label="${label}"><table aria-label="${label}"><tbody>${rows}</tbody></table></div>`
}

/** Longer bodies are not formatted and are shown in part. The API returns all of it. */
const longest = 200_000

function bodyOf(label: string, text: string): Html {
  const lines = text.length > longest ? text.slice(0, longest) : formatJson(text)
  return html`<pre class="body" tabindex="0" aria-label="${label}" role="group">${lines}</pre>
${text.length > longest && html`<p class="muted">Only the first ${longest.toLocaleString('en-US')} of ${text.length.toLocaleString('en-US')} characters are shown.</p>`}`
}

/** JSON is indented; anything else is shown as it is. */
function formatJson(text: string): Html {
  try {
    const value: unknown = parseJson(text)
    const indented = typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : ''
    return indented && indented.length < 5 * longest ? jsonText(indented) : html`${text}`
  } catch {
    return html`${text}`
  }
}

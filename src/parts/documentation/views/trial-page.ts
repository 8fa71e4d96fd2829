import { STATUS_CODES } from 'node:http'
import { isNumbered } from '#http/endpoint.ts'
import type { VisitorResponse } from '#http/visitor-request.ts'
import { addressOf, type Entry } from '#parts/documentation/reference.ts'
import { pathField, queryField, type Trial } from '#parts/documentation/trial.ts'
import { parseJson } from '#platform/json.ts'
import { button } from '#web/components/button.ts'
import { jsonText } from '#web/components/json-text.ts'
import { badge } from '#web/components/label.ts'
import { table } from '#web/components/table.ts'
import { banner } from '#web/components/toast.ts'
import { alert, field, type Problem, select } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { type Bases, methodMark, queryOf, readSummary, sampleOf, snippetPanels, tryAddress, withCode } from './operation.ts'

/** What came back, and how long it took. */
export interface Exchange {
  response: VisitorResponse
  milliseconds: number
}

export interface TrialState {
  trial: Trial
  /** Why it cannot be tried here. */
  refusal?: string | undefined
  problem?: Problem | undefined
  exchange?: Exchange | undefined
}

/** The page where an operation is tried. */
export function trialBody(visit: Pick<Visit, 'csrf'>, entry: Entry, group: string, bases: Bases, state: TrialState): Html {
  const { endpoint, path } = entry
  const { title, more } = readSummary(endpoint.summary)
  return html`<p class="crumbs muted"><a href="/docs">API reference</a> / <a href="/docs/${entry.group}">${group}</a> / <a href="${addressOf(entry)}">${withCode(title)}</a></p>
<h1>Try it: ${withCode(title)}</h1>${more && html`<p>${withCode(more)}</p>`}
<p class="address">${methodMark(endpoint.method)} <code>${path}</code></p>
<div class="columns trial"><div>${state.refusal ? banner(html`${state.refusal} Use the request beside this text in a program.`, 'attention') : trialForm(visit, entry, state)}</div>
<turbo-frame id="exchange">${exchangePane(entry, bases, state)}</turbo-frame></div>`
}

function trialForm(visit: Pick<Visit, 'csrf'>, entry: Entry, { trial }: TrialState) {
  const { endpoint } = entry
  const given = new Map(trial.query)
  const names = trial.names.map(([name, value]) =>
    field({ label: name, name: pathField(name), value, required: true, numeric: isNumbered(name), longest: 1000 }),
  )
  const query = queryOf(entry).map(({ name, schema }) => {
    const words = schema.enum?.map(String).filter(Boolean)
    const value = given.get(name) ?? ''
    if (!words?.length) return field({ label: name, name: queryField(name), value, longest: 1000 })
    const options = words.map((word): [string, string] => [word, word])
    return select(name, queryField(name), [['', schema.default ? `${schema.default} (default)` : 'not given'], ...options], value)
  })
  const parts = [
    names.length > 0 && html`<fieldset><legend>Path</legend>${names}</fieldset>`,
    query.length > 0 && html`<fieldset><legend>Query</legend>${query}</fieldset>`,
    endpoint.body &&
      html`<label for="body">Body (JSON)</label><textarea id="body" name="body" rows="8" spellcheck="false" autocapitalize="none" class="code">${trial.body}</textarea>`,
    changes(entry) &&
      html`<label class="choice"><input type="checkbox" name="sure" value="yes" required> ${
        endpoint.method === 'DELETE' ? 'Delete it: this cannot be undone here' : 'Send it: this changes data on this server'
      }</label>`,
    button(`Send ${endpoint.method} request`, {
      kind: endpoint.method === 'DELETE' ? 'danger' : 'primary',
      icon: 'paper-airplane',
    }),
    html`<p class="muted small">The request is sent as you, with all your rights. No token is made.</p>`,
  ]
  return form(visit, tryAddress(endpoint.operation), html`${parts}`, { frame: 'exchange' })
}

/** Whether a request may change something. */
export const changes = ({ endpoint: { method } }: Pick<Entry, 'endpoint'>) => method !== 'GET'

function exchangePane(entry: Entry, bases: Bases, { trial, problem, exchange, refusal }: TrialState) {
  const sample = { ...sampleOf(entry, bases), ...(refusal ? {} : filled(entry, trial)) }
  return html`<div role="status">${alert(problem)}${exchange && responsePane(exchange)}</div><h2>The same request in a program</h2>${snippetPanels(`try-${entry.endpoint.operation}`, sample)}`
}

/** The typed values; a body that is not JSON stays the example. */
function filled({ endpoint }: Entry, { names, query, body }: Trial) {
  const shown = names.map(([name, value]): [string, string] => [name, value || name.toUpperCase()])
  if (!endpoint.body) return { names: shown, query }
  try {
    return { names: shown, query, body: body === '' ? undefined : (parseJson(body) as unknown) }
  } catch {
    return { names: shown, query }
  }
}

/** Headers that are the same in every response and say nothing about this one. */
const usual =
  /^(access-control-|content-security-policy|x-frame-options|x-content-type-options|x-xss-protection|referrer-policy|vary|connection|date|transfer-encoding|keep-alive)/

function responsePane({ response, milliseconds }: Exchange) {
  const { status, headers, body, truncated } = response
  const tone = status < 300 ? 'success' : status < 400 ? 'accent' : 'danger'
  const rows = Object.entries(headers).filter(([name]) => !usual.test(name))
  const size = truncated ? `more than ${kilobytes(body.length)}` : kilobytes(body.length)
  return html`<h2>Response</h2><p>${badge(`${status} ${STATUS_CODES[status] ?? ''}`, tone)} <span class="muted">in ${milliseconds} ms, ${size}</span></p>
${bodyPane(response)}
<h3>Headers</h3>${table(
    ['Name', 'Value'],
    rows.map(([name, value]) => [html`<code>${name}</code>`, html`<code>${value}</code>`]),
    { label: 'Headers of the response' },
  )}`
}

const kilobytes = (bytes: number) => (bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KB`)

/** Characters of a body that are shown. With its colours, the page takes five times as much. */
const mostShown = 64 * 1024

function bodyPane({ headers, body, truncated }: VisitorResponse) {
  const type = headers['content-type'] ?? ''
  if (!body.length) return html`<p class="muted">The response has no body.</p>`
  if (!/json|^text\//.test(type)) return html`<p class="muted">The body is not text (${type}), and is not shown.</p>`
  const isJson = /json/.test(type)
  const text = isJson ? indented(body.toString()) : body.toString()
  const shown = text.slice(0, mostShown)
  const cut =
    (truncated || text.length > mostShown) && html`<p class="muted">Only the first ${kilobytes(mostShown)} are shown.</p>`
  return html`${cut}<pre class="example" tabindex="0" role="group" aria-label="Body of the response">${isJson ? jsonText(shown) : shown}</pre>`
}

/** A text that was cut off cannot be parsed, and is shown as it came. */
function indented(text: string) {
  try {
    return JSON.stringify(parseJson(text), null, 2)
  } catch {
    return text
  }
}

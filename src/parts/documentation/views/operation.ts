import { type Endpoint, isNumbered, type Method } from '#http/endpoint.ts'
import { isPlain } from '#http/media.ts'
import { phrases, queryParameters, statusesBesides } from '#http/openapi.ts'
import {
  exampleBody,
  exampleOf,
  type FieldRow,
  fieldsOf,
  type Schema,
  schemaOf,
  typeName,
} from '#parts/documentation/examples.ts'
import { noteOn } from '#parts/documentation/parameter-notes.ts'
import { addressOf, type Entry, pathNames } from '#parts/documentation/reference.ts'
import { type Credential, languages, type Sample, writeSnippet } from '#parts/documentation/snippets.ts'
import { buttonLink } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { jsonText } from '#web/components/json-text.ts'
import { badge } from '#web/components/label.ts'
import { table } from '#web/components/table.ts'
import { panels } from '#web/components/tabs.ts'
import { sentence } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'

/** Where the APIs are served, by the name of the variant. */
export type Bases = Record<Entry['variant']['name'], string>

export const methodMark = (method: Method) => html`<span class="method ${method.toLowerCase()}">${method}</span>`

/** An operation of a group's page. */
export function operationSection(entry: Entry, bases: Bases): Html {
  const { endpoint, path, variant } = entry
  const { operation, method, summary } = endpoint
  const base = bases[variant.name]
  const { title, more } = readSummary(summary)
  return html`<section class="operation" id="${operation}" aria-labelledby="${operation}-title">
<div class="title-bar"><h2 id="${operation}-title"><a href="${addressOf(entry)}">${withCode(title)}</a></h2>${buttonLink('Try it', tryAddress(operation), { size: 'small', icon: 'play', label: `Try it: ${operation}` })}</div>
<p class="address">${methodMark(method)} <code>${path}</code>${copyButton(`${base}${path}`, `Copy the address of ${operation}`)}</p>
${more && html`<p>${withCode(more)}</p>`}
<div class="columns"><div>${needsOf(entry)}${parameterTables(entry)}</div>
<div><h3>Request</h3>${snippetPanels(operation, sampleOf(entry, bases))}${responses(entry)}</div></div>
</section>`
}

/** The first clause of a summary is its title, the rest a sentence. */
export function readSummary(summary: string) {
  const [, title = summary, rest = ''] = /^(.+?)[;:] (.+)$/s.exec(summary) ?? []
  return { title, more: rest && sentence(rest) }
}

/** A text whose code is in backticks. */
export const withCode = (text: string) =>
  html`${text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : part))}`

export const tryAddress = (operation: string) => `/docs/try/${operation}`

const viewers: Record<NonNullable<Endpoint['viewer']> | 'token', string> = {
  token: 'Needs a token.',
  optional: 'Works without a token. With one, it shows what the user of the token may see.',
  site_admin: 'Only for site administrators. Other callers get 404.',
  password: 'Needs a login and its password. Tokens are refused.',
  classic_token: 'Needs a personal access token (classic).',
  client: 'Needs the client id and the secret of an OAuth application, as Basic authentication.',
  app: 'Needs a JSON web token that a key of the app signed.',
  installation: 'Needs the token of an installation of an app.',
}

function needsOf({ endpoint, variant }: Entry) {
  const { viewer, scopes = [], permission, access, org_role, operation } = endpoint
  const codes = (words: readonly string[]) => words.map((word, index) => html`${index > 0 && ' or '}<code>${word}</code>`)
  const [name = '', level] = permission.split(':')
  const usesToken = viewer !== 'password' && viewer !== 'client' && viewer !== 'app'
  const lines = [
    html`${viewers[viewer ?? 'token']}`,
    scopes.length > 0 && html`Scope of a classic token: ${codes(scopes)}.`,
    usesToken && level && html`Permission of a fine-grained token: <code>${name}</code>, ${level}.`,
    usesToken && permission === 'classic' && html`Fine-grained tokens are refused.`,
    access && html`Access to the repository: <code>${access}</code> or higher.`,
    org_role && html`Role in the organization: <code>${org_role}</code>.`,
    endpoint.polled &&
      html`Made for polling: send the <code>ETag</code> back, and wait as long as <code>X-Poll-Interval</code> says.`,
    endpoint.followed && html`With <code>Accept: text/event-stream</code>, new entries arrive as a stream.`,
    endpoint.streamed && html`The response is a stream of events (<code>text/event-stream</code>).`,
    variant.name === 'versioned' && html`Only the versioned API has this operation.`,
  ].filter((line) => line !== false && line !== undefined && line !== '')
  return html`<ul class="needs">${lines.map((line) => html`<li>${line}</li>`)}</ul><p class="muted small">Operation <code>${operation}</code></p>`
}

export const queryOf = ({ endpoint, variant }: Entry) =>
  queryParameters(endpoint, variant).map(({ name, schema }) => ({ name, schema: schema as Schema }))

function parameterTables(entry: Entry) {
  const { endpoint } = entry
  const path = pathNames(entry).map((name) => ({
    name,
    required: true,
    schema: { type: isNumbered(name) ? 'integer' : 'string' },
  }))
  const query = queryOf(entry).map((parameter) => ({ ...parameter, required: false }))
  const body = schemaOf(endpoint.body)
  return html`${fieldTable('Path parameters', path, noteOn)}${fieldTable('Query parameters', query, noteOn)}
${body && fieldTable('Fields of the body', fieldsOf(body), noteOn)}
${body && endpoint.array_field && html`<p class="muted">A body that is an array stands for the field <code>${endpoint.array_field}</code>.</p>`}
${endpoint.raw_body && html`<h3>Body</h3><p>The body is sent as it is, not as JSON.</p>`}`
}

function fieldTable(title: string, rows: FieldRow[], note: (name: string) => string | undefined) {
  if (!rows.length) return ''
  const cells = rows.map(({ name, schema, required }) => {
    const about = schema.description ?? note(name)
    return [
      html`<code>${name}</code>${required && html` <span class="required">required</span>`}`,
      html`${describeType(schema)}${about && html`<p>${withCode(about)}</p>`}`,
    ]
  })
  return html`<h3>${title}</h3>${table(['Name', 'Type'], cells, { label: title })}`
}

function describeType(schema: Schema) {
  const words = (schema.enum ?? schema.items?.enum)?.filter((word) => word !== '')
  return html`<span class="muted">${typeName(schema)}</span>${words && html`: ${words.map((word, index) => html`${index > 0 && ', '}<code>${String(word)}</code>`)}`}${
    schema.default !== undefined && html`<span class="muted">, by default</span> <code>${JSON.stringify(schema.default)}</code>`
  }${schema.maximum !== undefined && html`<span class="muted">, at most</span> <code>${schema.maximum}</code>`}`
}

const credentials: Partial<Record<NonNullable<Endpoint['viewer']>, Credential>> = {
  optional: 'none',
  password: 'password',
  client: 'client',
  app: 'app',
}

/** Query parameters without which a request makes no sense. */
const neededQuery: Record<string, string> = { q: 'engine' }

export function sampleOf(entry: Entry, bases: Bases): Sample {
  const { endpoint, variant } = entry
  const { method, path, viewer, raw_body, operation } = endpoint
  const body = schemaOf(endpoint.body)
  const uploads = operation === 'repos/upload-release-asset'
  return {
    method,
    base: bases[variant.name],
    path,
    names: pathNames(entry).map((name) => [name, name.toUpperCase()]),
    query: queryOf(entry).flatMap(({ name }) => {
      const value = uploads && name === 'name' ? 'tool.zip' : neededQuery[name]
      return value ? [[name, value] as [string, string]] : []
    }),
    body: body && exampleBody(body),
    file: raw_body && (uploads ? 'application/zip' : 'text/plain'),
    credential: viewer ? (credentials[viewer] ?? 'token') : 'token',
    reads_json: answersJson(endpoint),
  }
}

const answersJson = ({ answers, media, streamed }: Endpoint) =>
  !streamed && !media?.some(isPlain) && !isEmpty(schemaOf(Object.values(answers)[0]))

const isEmpty = (schema: Schema | undefined) => !schema || schema.type === 'null'

export function snippetPanels(id: string, sample: Sample): Html {
  const items = languages.map(([key, text]) => {
    const code = writeSnippet(key, sample)
    return {
      key,
      text,
      body: html`<div class="snippet">${copyButton(code, `Copy the request in ${text}`)}<pre tabindex="0" role="group" aria-label="The request in ${text}">${code}</pre></div>`,
    }
  })
  return panels('The language of the request', `language-${id.replace('/', '-')}`, items, 'language')
}

/** The documented responses. The first has an example of its body. */
function responses({ endpoint, variant }: Entry) {
  const own = Object.entries(endpoint.answers).map(([status, schema]) => ({ status, schema: schemaOf(schema) ?? {} }))
  const others = [...new Set(statusesBesides(endpoint, variant))]
    .filter((status) => !(status in endpoint.answers))
    .sort((a, b) => a - b)
  const bodies = own.map(({ status, schema }, index) => {
    const shown = !isEmpty(schema) && answersJson(endpoint)
    const line = html`<code class="status">${status}</code> ${phrases[Number(status)]}${shown && html` <span class="muted">${typeName(schema)}</span>`}`
    if (!shown) return html`<p class="response">${line}</p>`
    return html`<details class="response"${index === 0 && own.length === 1 && html` open`}><summary>${line}</summary><pre class="example" tabindex="0" role="group" aria-label="Example of a response">${jsonText(JSON.stringify(exampleOf(schema), null, 2))}</pre></details>`
  })
  return html`<h3>Responses</h3>${bodies}
<details class="response"><summary>Other statuses <span class="muted">${others.join(', ')}</span></summary><ul class="statuses">${others.map((status) => html`<li><code class="status">${status}</code> ${phrases[status]}</li>`)}</ul></details>`
}

export const siteAdminBadge = ({ endpoint }: Entry) =>
  endpoint.viewer === 'site_admin' && badge('Site administrators', 'attention')

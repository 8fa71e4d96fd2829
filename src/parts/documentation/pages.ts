import { join } from 'node:path'
import type { ApiDescription } from '#http/openapi.ts'
import { type Html, html } from '#web/html.ts'
import { type PageRoute, show } from '#web/page.ts'

export const assets = join(import.meta.dirname, 'assets')

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: string[]
  default?: unknown
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
}

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security?: object[]
  'x-scopes'?: string[]
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, { schema: Schema }> }>
}

interface Entry extends Operation {
  method: string
  path: string
}

/** The API reference, generated from the OpenAPI document. */
export const documentationPages = (describe: () => ApiDescription): PageRoute[] => [
  show('/docs', () => {
    const document = describe()
    const address = document.servers[0]?.url ?? ''
    const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, ...(operation as unknown as Operation) })),
    )
    const groups = document.tags.map(({ name }) => ({ name, entries: entries.filter(({ tags }) => tags.includes(name)) }))
    const body = html`<div class="reference">
<nav aria-label="Operations"><input id="filter" type="search" placeholder="Filter operations" aria-label="Filter operations" hidden>
${groups.map(({ name, entries }) => html`<section><h2>${name}</h2><ul>${entries.map(link)}</ul></section>`)}</nav>
<main><h1>API reference</h1>
<p>Everything this Belfry serves, and nothing else, under <code>${address}</code>; for programs as <a href="/api/v3/openapi.json">OpenAPI 3.1</a>.
Send a token as <code>Authorization: Bearer …</code>. Lists take <code>per_page</code> (100 at most) and <code>page</code>, and say in
<code>Link</code> what follows. What a caller may not see is 404.</p>
${groups.map(({ name, entries }) => html`<h2>${name}</h2>${entries.map((entry) => section(entry, address, document))}`)}
</main></div>`
    return { title: 'API reference', body }
  }),
]

const link = ({ method, path, summary, operationId }: Entry) =>
  html`<li data-text="${`${method} ${path} ${summary} ${operationId}`.toLowerCase()}"><a href="#${operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${path}</a></li>`

function section(entry: Entry, address: string, document: ApiDescription): Html {
  const { method, path, operationId, summary, parameters, requestBody, responses } = entry
  const body = requestBody && resolve(requestBody.content['application/json'].schema, document)
  const given = parameters.map(({ name, in: location, required = false, schema }) => ({ name, required, schema, location }))
  const required = new Set(body?.required)
  const sent = Object.entries(body?.properties ?? {}).map(([name, schema]) => {
    return { name, schema, required: required.has(name), location: 'body' }
  })
  return html`<section class="operation" id="${operationId}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code> <a class="muted" href="#${operationId}" aria-label="Link to ${operationId}">#</a></h3>
<p>${summary}. <span class="muted">${needs(entry)}</span></p>
${given.length > 0 && fields('Parameters', given)}
${body && fields('Body', sent)}
<h4>Answers</h4><table><tbody>${answerRows(responses)}</tbody></table>
<details><summary>Try it</summary><pre>${example(entry, address, body)}</pre></details>
</section>`
}

/** The responses of the operation, with one row for the statuses that all operations share. */
function answerRows(responses: Operation['responses']) {
  const own = Object.entries(responses).filter(([, answer]) => !answer.$ref)
  const common = Object.entries(responses).flatMap(([status, answer]) => (answer.$ref ? status : []))
  const rows = own.map(
    ([status, { description, content }]) =>
      html`<tr><td><code>${status}</code></td><td>${description}${shape(Object.values(content ?? {})[0]?.schema)}</td></tr>`,
  )
  return html`${rows}<tr><td class="muted">or</td><td class="muted">${common.join(', ')}</td></tr>`
}

/** Endpoints that need a password or a client secret. */
const opensBy = ({ security }: Entry, scheme: string) => security?.length === 1 && security.some((way) => scheme in way)

function needs(entry: Entry) {
  const { security, 'x-scopes': scopes } = entry
  if (scopes?.length) return `Needs a token with ${scopes.join(' or ')}.`
  if (opensBy(entry, 'password')) return 'Needs a login and its password; no token will do.'
  if (opensBy(entry, 'client')) return "Needs an OAuth application's id and its secret."
  if (opensBy(entry, 'app')) return 'Needs a JSON web token of an app.'
  return security ? 'Open to everyone; a token may show more.' : 'Needs a token or a password.'
}

function fields(title: string, rows: { name: string; location: string; required: boolean; schema: Schema }[]) {
  return html`<h4>${title}</h4><table><tbody>${rows.map(
    ({ name, required, schema, location }) =>
      html`<tr><td><code>${name}</code></td><td>${typeName(schema)}${schema.enum && html`: ${schema.enum.join(', ')}`}${schema.default !== undefined && html`, by default ${String(schema.default)}`}</td><td class="muted">${location}${required && ', required'}</td></tr>`,
  )}</tbody></table>`
}

const shape = (schema: Schema | undefined) =>
  schema && !schema.$ref?.endsWith('/Error') && html` <span class="muted">${typeName(schema)}</span>`

function typeName({ $ref, type, items }: Schema): string {
  if ($ref) return $ref.split('/').at(-1) ?? ''
  if (items) return `array of ${typeName(items)}`
  return [type].flat().join(' or ')
}

function resolve(schema: Schema, document: ApiDescription): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name ? ((document.components.schemas[name] as Schema | undefined) ?? schema) : schema
}

/** A curl command with the required fields of the body. */
function example(entry: Entry, address: string, body: Schema | undefined) {
  const { method, path, security } = entry
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'${address}${path}'`]
  if (!security) lines.push(`-H "Authorization: Bearer $TOKEN"`)
  if (opensBy(entry, 'password')) lines.push('-u "$LOGIN"')
  if (opensBy(entry, 'client')) lines.push('-u "$CLIENT_ID:$CLIENT_SECRET"')
  if (opensBy(entry, 'app')) lines.push('-H "Authorization: Bearer $JWT"')
  const required = (body?.required ?? []).map((name) => [name, `<${name}>`])
  if (body) lines.push(`-d '${JSON.stringify(Object.fromEntries(required))}'`)
  return lines.join(' \\\n  ')
}

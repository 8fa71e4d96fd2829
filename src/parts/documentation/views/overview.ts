import type { Reference } from '#parts/documentation/reference.ts'
import { selfHosted, versioned } from '#variants.ts'
import { copyLine } from '#web/components/copy.ts'
import { counter } from '#web/components/label.ts'
import { type Html, html } from '#web/html.ts'
import type { Bases } from './operation.ts'

/** Requests per hour of an API; null for no limit. */
type Limits = { anonymous: number; user: number } | null

export interface Facts {
  bases: Bases
  limits: Record<keyof Bases, Limits>
}

export function overview({ sections, count }: Reference, { bases, limits }: Facts): Html {
  const cards = sections.map(
    ({ title, groups }) =>
      html`<section><h3>${title}</h3><ul class="plain">${groups.map((group) => html`<li><a href="/docs/${group.slug}">${group.title}</a> ${counter(group.entries.length)}</li>`)}</ul></section>`,
  )
  return html`<h1>API reference</h1>
<p>With the API, programs read and change what these pages show. Belfry speaks the REST API of a well-known code host, so its public clients work unchanged. This reference is generated from the code that serves the API: it lists all ${count} operations, and no others.</p>
<h2>Operations</h2><div class="cards">${cards}</div>
<h2>Addresses</h2>
<p>The same operations are served by two APIs. The self-hosted API is what clients of a self-hosted server expect:</p>${copyLine(bases['self-hosted'], 'Address of the self-hosted API')}
<p>The versioned API is what clients of the public service expect. Choose a version with the header <code>X-GitHub-Api-Version</code>: ${versioned.api_versions.map((version, index) => html`${index > 0 && ' or '}<code>${version}</code>`)}. Without it, you get the first.</p>${copyLine(bases.versioned, 'Address of the versioned API')}
<p>The OpenAPI 3.1 documents are at <a href="/api/v3/openapi.json" data-turbo="false">/api/v3/openapi.json</a> and <a href="${bases.versioned}/openapi.json">${bases.versioned}/openapi.json</a>. GraphQL is not served.</p>
<h2>Authentication</h2>
<p>Create a token in <a href="/settings/tokens">your settings</a> and send it with each request:</p><pre>Authorization: Bearer YOUR_TOKEN</pre>
<p>A classic token has scopes. A fine-grained token has permissions in chosen repositories. Each operation says which it needs. A token can also be the password of Basic authentication. Many operations that read public data work without a token.</p>
<p>What you may not see answers 404, as if it did not exist. The header <code>X-OAuth-Scopes</code> of a response lists the scopes of your classic token.</p>
<h2>Pages of lists</h2>
<p>Lists take <code>per_page</code> (usually 30, at most 100) and <code>page</code>. The <code>Link</code> header has the addresses of the next, previous, first and last page. Follow its links and do not build them yourself, because some lists use a cursor.</p>
<h2>Conditional requests</h2>
<p>A response to a <code>GET</code> request has an <code>ETag</code>. Send it back as <code>If-None-Match</code>. If nothing has changed, you get 304 without a body, and the request does not count against your rate limit. Responses with <code>Last-Modified</code> also accept <code>If-Modified-Since</code>.</p>
<h2>Rate limits</h2>
<ul><li>Self-hosted API: ${limitText(limits[selfHosted.name])}</li><li>Versioned API: ${limitText(limits[versioned.name])}</li></ul>
<p>If there is a limit, the headers <code>X-RateLimit-Limit</code>, <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> say how much is left and when it starts again. A request beyond the limit gets 403. <a href="/docs/meta#rate-limit/get">Reading the limit</a> is free.</p>
<h2>Errors</h2>
<p>An error has a JSON body with a <code>message</code>. If fields were wrong (422), <code>errors</code> names each one:</p>
<pre>{
  "message": "Validation Failed",
  "errors": [{ "resource": "Issue", "code": "missing_field", "field": "title" }],
  "documentation_url": "${bases['self-hosted'].replace(/\/api\/v3$/, '')}/docs",
  "status": "422"
}</pre>
<p>401 means that the token is missing or wrong, 403 that it may not do this, 404 that the record does not exist or is hidden (with the header <code>X-Belfry-Unserved</code>, that no operation has this address and method), 409 that the request conflicts with the present state. 503 has <code>Retry-After</code>: send the request again after that time. Every response has an id, <code>X-GitHub-Request-Id</code> or <code>X-Service-Request-Id</code>; the server's log has the same one.</p>
<h2>Webhooks</h2>
<p>To be told what happens instead of asking, <a href="/docs/webhooks">create a webhook</a> for a repository or an organization. Belfry sends a <code>POST</code> request with a JSON payload for each event, and signs it if the webhook has a secret (<code>X-Hub-Signature-256</code>). Each delivery is kept and can be <a href="/docs/webhook-deliveries">read and repeated</a>.</p>`
}

const limitText = (limits: Limits) =>
  limits
    ? `${limits.user.toLocaleString('en-US')} requests an hour for each user, ${limits.anonymous} for each address without a token.`
    : 'no limit.'

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Failure, handleError } from '#http/errors.ts'
import { ReadOnly } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import { emptyState } from './components/empty-state.ts'
import { html } from './html.ts'
import { makePage, nothingHere, sendPage } from './layout.ts'
import { type Site, sendErrorPage } from './page.ts'

/** Pages for unknown addresses and for errors. */
export function mountFallbacks(app: FastifyInstance, site: Site) {
  app.setNotFoundHandler((request, reply) => sendErrorPage(site, request, reply, nothingHere))
  app.setErrorHandler((error, request, reply) => {
    const failure = handleError(request, reply, error)
    if (error instanceof ReadOnly) return sendErrorPage(site, request, reply, refusedForm(failure))
    if (failure.kind === 'outage') return sendUnavailable(reply, failure)
    if (failure.status === 404) return sendErrorPage(site, request, reply, nothingHere)
    if (failure.kind === 'refusal') {
      const { statusCode: status = failure.status } = error as { statusCode?: number }
      const body = html`<main><h1>That cannot be read</h1><p>Send the form of the page again.</p></main>`
      return sendErrorPage(site, request, reply, { title: 'Not possible', body, status })
    }
    const body = html`<main><h1>That did not work</h1><p>The fault is ours; it is in the log as ${request.id}.</p></main>`
    return sendErrorPage(site, request, reply, { title: 'Error', body, status: 500 })
  })
}

/** The notice at the top of the page says why. */
const refusedForm = ({ status }: Failure) => ({
  title: 'Read-only',
  status,
  body: html`<main>${emptyState(
    'lock',
    'Nothing was saved',
    'This server can be read, and not changed, until the maintenance is over. To keep what you typed, go back, and send the form again then.',
    undefined,
    'h1',
  )}</main>`,
})

/** Does not use the database, so it is the same for signed-in users. */
function sendUnavailable(reply: FastifyReply, { status, message }: Failure) {
  const body = html`<main><h1>Back in a moment</h1><p class="error" role="alert">${message}</p>
<p>What you sent in a form may not have been saved: check before you send it again.</p></main>`
  return sendPage(reply, makePage(reply.request, 'Not available', body), status)
}

/** For an address that the router cannot parse: a page for browsers, the API's JSON for all others. */
export function showUnreadable(site: Site, request: FastifyRequest, reply: FastifyReply) {
  const forBrowsers = /\btext\/html\b/i.test(request.headers.accept ?? '') && !request.originalUrl.startsWith(selfHosted.prefix)
  return forBrowsers ? sendErrorPage(site, request, reply, nothingHere) : undefined
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { handleError } from '#http/errors.ts'
import { parseJson } from '#platform/json.ts'
import { xml } from '#web/html.ts'
import type { Failed, Parameters } from './client-request.ts'
import { lifetimeSeconds, startDevice } from './device.ts'
import { errorParameters } from './errors.ts'
import { exchange } from './exchange.ts'

type Fields = Record<string, string | number>

/** The endpoints for tokens and device codes. They are neither pages nor part of the API under its prefix. */
export function mountTokenEndpoint(listener: FastifyInstance, { db, addresses }: Belfry) {
  listener.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string' }, async (_: FastifyRequest, text: string) => text)
    app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const { kind, retry_after, status } = handleError(request, reply, error)
      if (kind !== 'refusal') return sendFailure(request, reply, { error: 'server_error' })
      if (retry_after !== undefined) return sendFailure(request, reply.code(429), { error: 'too_many_requests' })
      return sendFailure(request, reply.code(error.statusCode ?? status), { error: 'invalid_request' })
    })
    app.post('/login/oauth/access_token', async (request, reply) => {
      const result = await exchange(db, { parameters: readParameters(request), address: request.ip })
      if ('error' in result) return sendFailure(request, reply, result)
      const { access_token, scopes, ...lifetime } = result
      return sendFields(request, reply, { access_token, ...lifetime, scope: scopes.join(','), token_type: 'bearer' })
    })
    app.post('/login/device/code', async (request, reply) => {
      const result = await startDevice(db, { parameters: readParameters(request), address: request.ip })
      if ('error' in result) return sendFailure(request, reply, result)
      const { device_code, user_code, interval } = result
      const verification_uri = `${addresses.web}/login/device`
      return sendFields(request, reply, { device_code, user_code, verification_uri, expires_in: lifetimeSeconds, interval })
    })
  })

  /** Public clients expect `error` in a response with status 200. */
  function sendFailure(request: FastifyRequest, reply: FastifyReply, { error, interval }: Failed) {
    return sendFields(request, reply, { ...errorParameters(error, `${addresses.web}/docs`), ...(interval && { interval }) })
  }
}

/** From the query, the body and Basic authentication; later ones win. Two different client ids are refused. */
function readParameters(request: FastifyRequest): Parameters {
  const mark = request.url.indexOf('?')
  const query = readForm(mark < 0 ? '' : request.url.slice(mark + 1))
  const given = { ...query, ...readBody(request) }
  const client = readClient(request.headers.authorization)
  if (!client) return given
  const same = given.client_id === undefined || given.client_id === client.client_id
  return { ...given, ...client, ...(!same && { client_id: '' }) }
}

function readBody({ body, headers }: FastifyRequest): Parameters {
  if (typeof body !== 'string') return {}
  return /\bjson\b/i.test(headers['content-type'] ?? '') ? readJson(body) : readForm(body)
}

/** The first value of a repeated name counts. */
function readForm(text: string): Parameters {
  return Object.fromEntries([...new URLSearchParams(text)].reverse())
}

function readJson(text: string): Parameters {
  try {
    const entries = Object.entries(parseJson(text) as object)
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return {}
  }
}

function readClient(authorization: string | undefined) {
  const [, encoded] = /^basic\s+(\S+)\s*$/i.exec(authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const [client_id = '', ...secret] = Buffer.from(encoded, 'base64').toString().split(':')
  return { client_id, client_secret: secret.join(':') }
}

function sendFields({ headers }: FastifyRequest, reply: FastifyReply, fields: Fields) {
  const { type, write } = formatFor(headers.accept ?? '')
  return reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' }).type(`${type}; charset=utf-8`).send(write(fields))
}

/** The first format that `Accept` names; a form otherwise. */
function formatFor(accept: string) {
  const name = accept
    .toLowerCase()
    .split(',')
    .map((entry) => /(?:^|[/+])(json|xml|x-www-form-urlencoded)\s*(?:;|$)/.exec(entry.trim())?.[1])
    .find((found) => found !== undefined)
  return name === 'json' ? json : name === 'xml' ? elements : form
}

const form = {
  type: 'application/x-www-form-urlencoded',
  write: (fields: Fields) => new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString(),
}
const json = { type: 'application/json', write: (fields: Fields) => JSON.stringify(fields) }
/** In the reverse order of the form, as older clients expect. */
const elements = {
  type: 'application/xml',
  write: (fields: Fields) => {
    const written = Object.entries(fields).map(([name, value]) => xml`  <${name}>${value}</${name}>\n`)
    const ordered = 'access_token' in fields ? written.reverse() : written
    return xml`<?xml version="1.0" encoding="UTF-8"?>\n<OAuth>\n${ordered}</OAuth>\n`.text
  },
}

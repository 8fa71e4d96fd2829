import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from '#test/imports/http-server.ts'
import { type BranchObject, below, type Change, type Changeset, type Item, key, type Script } from './script.ts'

export interface ServerOptions {
  /** `/{organization}` as in the cloud, or `/tfs/DefaultCollection`. */
  form?: 'services' | 'server'
  credentials?: { username?: string; password: string }
  /** How it refuses access. */
  refusal?: '401' | '203' | '302' | 'ntlm'
  /** Pages by continuation token instead of `$skip`. */
  tokens?: boolean
  /** The largest number of changes on a page. */
  page?: number
  /** Whether it sends the MD5 of files. */
  hashes?: boolean
  versions?: string[]
  /** Called before every answer; returns true if it has answered. */
  meddle?: (asked: Asked, response: ServerResponse) => boolean | undefined | Promise<boolean | undefined>
}

export interface Asked {
  path: string
  query: URLSearchParams
  /** How many requests came before. */
  number: number
}

/** Serves the documented REST API of Azure DevOps for one history; see the script. */
export async function startTfvcServer(script: Script, options: ServerOptions = {}) {
  const { form = 'server', versions = ['1.0', '2.0', '4.1', '5.0', '7.1'] } = options
  const asked: Asked[] = []
  let busy = 0
  let most = 0
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server')
    const one = { path: decodeURIComponent(pathname), query: searchParams, number: asked.length }
    asked.push(one)
    busy += 1
    most = Math.max(most, busy)
    response.once('close', () => {
      busy -= 1
    })
    if (await options.meddle?.(one, response)) return
    if (!isKnown(request, options)) return refuse(response, options)
    const pattern =
      form === 'services'
        ? /^\/fabrikam(?:\/([^_/][^/]*))?\/_apis\/(.*)$/
        : /^\/tfs\/DefaultCollection(?:\/([^_/][^/]*))?\/_apis\/(.*)$/
    const [, project, resource] = pattern.exec(one.path) ?? []
    if (resource === undefined) return page(response, 404, '<html><title>404</title>The resource cannot be found.</html>')
    const version = searchParams.get('api-version')
    if (!version)
      return complain(response, 400, 'VssVersionNotSpecifiedException', 'No api-version was supplied for the request.')
    if (!versions.includes(version)) {
      const words = `The requested REST API version of ${version} is out of range for this server.`
      return complain(response, 400, 'VssVersionOutOfRangeException', words)
    }
    answer(response, script, options, project, resource, searchParams)
  })
  const listening = await listen(server)
  return {
    url: `${listening.url}/${form === 'services' ? 'fabrikam' : 'tfs/DefaultCollection'}`,
    asked,
    /** The largest number of concurrent requests. */
    get most() {
      return most
    },
    /** The number of file downloads. */
    get downloads() {
      return asked.filter(({ query }) => query.has('path')).length
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  }
}

function isKnown({ headers }: IncomingMessage, { credentials }: ServerOptions) {
  if (!credentials) return true
  const { username = '', password } = credentials
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function refuse(response: ServerResponse, { refusal = '401' }: ServerOptions) {
  if (refusal === '203') return page(response, 203, '<html><title>Azure DevOps Services | Sign In</title></html>')
  if (refusal === '302') {
    response.setHeader('location', 'https://spsprodweu1.vssps.visualstudio.com/_signin?realm=dev.azure.com&reply_to=x')
    return page(response, 302, '<html><title>Object moved</title></html>')
  }
  if (refusal === 'ntlm') response.setHeader('www-authenticate', ['NTLM', 'Negotiate'])
  else response.setHeader('www-authenticate', ['Bearer', 'Basic realm="http://127.0.0.1/tfs"', 'NTLM'])
  page(response, 401, '')
}

function page(response: ServerResponse, status: number, text: string) {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'x-tfs-processid': 'f2b2d4b8' }).end(text)
}

function say(response: ServerResponse, status: number, document: unknown, headers: Record<string, string> = {}) {
  const type = 'application/json; charset=utf-8; api-version=1.0'
  response.writeHead(status, { 'content-type': type, 'x-vss-e2eid': '5a8d5a9a', ...headers }).end(JSON.stringify(document))
}

export function complain(response: ServerResponse, status: number, typeKey: string, message: string, headers = {}) {
  const typeName = `Microsoft.TeamFoundation.VersionControl.Server.${typeKey}, Microsoft.TeamFoundation.VersionControl.Server`
  say(response, status, { $id: '1', innerException: null, message, typeName, typeKey, errorCode: 0, eventId: 3000 }, headers)
}

function answer(
  response: ServerResponse,
  script: Script,
  options: ServerOptions,
  project: string | undefined,
  resource: string,
  query: URLSearchParams,
) {
  const list = (value: unknown[], headers = {}) => say(response, 200, { count: value.length, value }, headers)
  const [, id] = /^tfvc\/changesets\/(\d+)/.exec(resource) ?? []
  const changeset = script.changesets[Number(id) - 1]
  if (id && !changeset) return complain(response, 404, 'ResourceAccessException', `TF14019: The changeset ${id} does not exist.`)
  if (resource === 'tfvc/items') return answerItems(response, script, options, query)
  if (resource === 'tfvc/changesets') return list(listChangesets(script, project, query))
  if (resource === 'tfvc/branches') return list(listBranches(script, project, query))
  if (changeset && resource === `tfvc/changesets/${id}`) return say(response, 200, describe(changeset, query, Infinity))
  if (changeset && resource === `tfvc/changesets/${id}/changes`) {
    const most = Math.min(Number(query.get('$top') ?? 100), options.page ?? 100)
    const from = Number(query.get('continuationToken') ?? query.get('$skip') ?? 0)
    const end = from + most
    const more = options.tokens && end < changeset.changes.length
    const value = changeset.changes.slice(from, end).map((change) => describeChange(change, changeset, options))
    return list(value, more ? { 'x-ms-continuationtoken': String(end) } : {})
  }
  complain(response, 404, 'VssResourceNotFoundException', `The controller for path '${resource}' was not found.`)
}

function listChangesets({ changesets }: Script, project: string | undefined, query: URLSearchParams) {
  const folder = query.get('searchCriteria.itemPath') ?? (project ? `$/${project}` : '$/')
  const isInside = ({ path }: Change) => folder === '$/' || key(path) === key(folder) || key(path).startsWith(`${key(folder)}/`)
  const from = Number(query.get('searchCriteria.fromId') ?? 0)
  const to = Number(query.get('searchCriteria.toId') ?? Infinity)
  const found = changesets.filter(({ id, changes }) => id >= from && id <= to && changes.some(isInside))
  if (query.get('$orderby') !== 'id asc') found.reverse()
  const skip = Number(query.get('$skip') ?? 0)
  const page = found.slice(skip, skip + Math.min(Number(query.get('$top') ?? 100), 256))
  return page.map((changeset) => describe(changeset, query, 80))
}

function describe({ id, author, date, comment }: Changeset, query: URLSearchParams, ordinarily: number) {
  const most = Number(query.get('maxCommentLength') ?? ordinarily)
  return {
    changesetId: id,
    url: `http://server/_apis/tfvc/changesets/${id}`,
    author,
    checkedInBy: author,
    createdDate: date,
    ...(comment && { comment: comment.slice(0, most) }),
    ...(comment.length > most && { commentTruncated: true }),
  }
}

function describeChange({ type, path, source, merges, item }: Change, { id }: Changeset, options: ServerOptions) {
  const deleted = /\bdelete\b/.test(type)
  const now = deleted
    ? { path, version: id, deletionId: 100 + id, ...(!item.data && { isFolder: true }) }
    : describeItem(item, options)
  return {
    item: { ...now, version: id, path },
    changeType: type,
    ...(source && { sourceServerItem: source }),
    ...(merges && { mergeSources: merges }),
  }
}

function describeItem({ path, data, version, symlink }: Item, { hashes = true }: ServerOptions) {
  return {
    version,
    changeDate: '2014-03-19T17:23:59.697Z',
    ...(data && { size: data.length, encoding: 65001 }),
    ...(data && hashes && { hashValue: createHash('md5').update(data).digest('base64') }),
    path,
    ...(!data && { isFolder: true }),
    ...(symlink && { isSymLink: true }),
    url: `http://server/_apis/tfvc/items/${encodeURI(path)}?versionType=Changeset&version=${version}`,
  }
}

function answerItems(response: ServerResponse, { changesets }: Script, options: ServerOptions, query: URLSearchParams) {
  const version = Number(query.get('versionDescriptor.version') ?? query.get('version') ?? changesets.length)
  const changeset = changesets[version - 1]
  if (!changeset)
    return complain(response, 404, 'ChangesetNotFoundException', `TF14019: The changeset ${version} does not exist.`)
  const path = query.get('path') ?? query.get('scopePath') ?? '$/'
  const item = changeset.tree.get(key(path))
  if (!item) return complain(response, 404, 'ItemNotFoundException', `TF14008: ${path} is not found at version ${version}.`)
  if (query.has('path') && item.data) {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': item.data.length })
    return response.end(item.data)
  }
  const level = query.get('recursionLevel') ?? 'OneLevel'
  const depth = level === 'Full' ? Infinity : level === 'OneLevel' ? 1 : 0
  const inside = below(changeset.tree, path).filter((each) => distance(path, each.path) <= depth)
  say(response, 200, { count: inside.length, value: inside.map((each) => describeItem(each, options)) })
}

function distance(folder: string, path: string) {
  const rest = path.slice(folder === '$/' ? 2 : folder.length + 1)
  return rest === '' ? 0 : rest.split('/').length
}

function listBranches({ branches }: Script, project: string | undefined, query: URLSearchParams) {
  const shown = branches.filter(({ deleted }) => !deleted || query.get('includeDeleted') === 'true')
  const inside = shown.filter(({ path }) => !project || key(path).startsWith(`${key(`$/${project}`)}/`))
  const isChild = ({ path, parent }: BranchObject, of?: string) =>
    of === undefined
      ? !inside.some((each) => parent !== undefined && key(each.path) === key(parent))
      : path !== of && parent === of
  const branchesOf = (parent?: string): object[] =>
    inside
      .filter((branch) => isChild(branch, parent))
      .map(({ path, deleted }) => ({
        path,
        description: '',
        createdDate: '2014-03-24T16:44:13.277Z',
        ...(deleted && { isDeleted: true }),
        url: `http://server/_apis/tfvc/branches/${encodeURI(path)}`,
        relatedBranches: [],
        mappings: [],
        children: query.get('includeChildren') === 'true' ? branchesOf(path) : [],
      }))
  return branchesOf()
}

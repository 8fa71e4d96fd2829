import type { Storage } from '#git/storage.ts'
import type { Wire } from '#http/serialization.ts'
import type { Access } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { App } from '#identity/apps.ts'
import type { Caller } from '#identity/callers.ts'
import type { Application } from '#identity/clients.ts'
import type { Permission } from '#identity/permissions.ts'
import type { Scope } from '#identity/scopes.ts'
import type { Database, Transaction } from '#platform/database.ts'
import type { Reason } from '#platform/errors.ts'
import type { Listed } from '#platform/listed.ts'
import { type Static, type TObject, type TSchema, Type } from '#platform/schema.ts'
import type { Topic } from '#platform/topics.ts'
import type { Variant } from '#variants.ts'
import type { Dialect } from './dialects.ts'
import type { Query, QueryFields } from './input.ts'
import type { Medium, Represented } from './media.ts'
import type { Cursors, Page, PageRule } from './paging.ts'
import type { Allowance } from './rate-limit.ts'
import type { Step } from './stream.ts'

/** An endpoint's contract: who may call it, its input and its output. */
export interface Declaration {
  /** The operation's name in the documentation of the public API. */
  operation: string
  summary: string
  /** Required of fine-grained tokens. */
  permission: Permission
  /** Other tokens need one of these scopes, if any is listed. */
  scopes?: readonly Scope[]
  /** Scopes that are not required, but make more visible. */
  optional_scopes?: readonly Scope[]
  /**
   * `optional`: anonymous callers too. `site_admin`: Not Found for all others. `password`: a user with a password and, if they have a
   * second factor, a code, but not with a token. `classic_token`: a user with a classic personal token. `client`: an application with
   * its id and secret. `app`: an app with a JSON web token. `installation`: the token of an installation.
   */
  viewer?: 'optional' | 'site_admin' | 'password' | 'classic_token' | 'client' | 'app' | 'installation'
  /** Its scopes, or this one of them, are enough for private repositories too, because it shows none of their contents. */
  sees_private?: true | Scope
  /** The access to the path's repository that the viewer needs; by default, seeing it is enough. */
  access?: Access
  /** Refuses an archived repository, and one that a fine-grained token does not include although it can read every public one. */
  writable?: true
  /** The role in the path's organization that the viewer needs. */
  org_role?: 'member' | 'owner'
  body?: TObject
  /** A body that is an array is this field: clients send `["bug"]` as well as `{"labels": ["bug"]}`. */
  array_field?: string
  /** The body is not JSON. The handler gets a stream, which it must limit. */
  raw_body?: true
  /** The maximum length of the body, if a megabyte is not enough. */
  longest_body?: number
  query?: QueryFields
  /**
   * Has the parameters `page` and `per_page` and the header `Link`. `true`: the usual page sizes. `by cursor`: no `page`; the endpoint
   * declares its cursor.
   */
  list?: true | 'by cursor' | ((variant: Variant) => PageRule)
  /** Clients poll it: the response is cached (see ResponseCache) and has `X-Poll-Interval`. */
  polled?: true
  /**
   * The response is cached like a polled one, without `X-Poll-Interval`: programs ask for it often, and in a row. `for good`: it depends on
   * nothing but the form of the request, not even on the caller.
   */
  kept?: true | 'for good'
  /** May be read from a replica, see platform/replica.ts. Only for endpoints that read nothing but the database, and do not write. */
  replicated?: true
  /** A polled response has `Last-Modified`. */
  last_modified?: true
  /**
   * Clients that accept `text/event-stream` get new entries of the list as events. The id of an event is the entry's id or, if an entry
   * may appear again, the position of the stream.
   */
  followed?: 'by id' | 'by bookmark'
  /** Always responds with a stream. The handler returns the events after `following`. */
  streamed?: true
  /** The handler opens its transaction itself, after slow work, or writes with one statement. */
  own_transaction?: true
  /** Response schemas by status; the lowest status is the default. */
  answers: Record<number, TSchema>
  /** Representations besides JSON. The handler gets the requested one as `medium`, and returns a `Represented`. */
  media?: readonly Medium[]
  /** Further reasons for refusals that do not follow from the rest of the declaration; for the OpenAPI document. */
  refuses?: readonly Reason[]
  /** Throws while the endpoint is closed. Called before the body is read. */
  checkOpen?: (variant: Variant) => void
  /** A code in the path is the credential, so a server for signed-in users only serves it to anonymous callers too. */
  takes_code?: true
  /** Variants that do not have it answer as if it did not exist. */
  served?: (variant: Variant) => boolean
}

/**
 * Names in a path: `{owner}` and `{repo}` of `/repos/{owner}/{repo}`. One `{path+}` takes slashes: the whole rest, or all before the
 * suffix that follows it, as in `/repos/{owner}/{repo}/commits/{ref+}/status`.
 */
type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Plain<Name> | Names<Rest> : never
type Plain<Name extends string> = Name extends `${infer Word}+` ? Word : Name

/** A path as it is shown: how much of an address a name takes is the router's business. */
export const plainPath = (path: string) => path.replace('+}', '}')

/**
 * The records that `{owner}/{repo}`, `{org}` and `{team_slug}` in a path stand for, with the fields that the router reads. hosting/path-records.ts
 * adds all other fields to these interfaces, and app.ts passes the functions that load the records.
 */
export interface PathRepository {
  id: number
  private: boolean
  archived: boolean
  owner_suspended?: boolean
  access: number
}
export interface PathOrganization {
  id: number
  type: Account['type']
  login: string
  suspended_at: Date | null
}
export interface PathTeam {
  id: number
}

/** A record named in the path is found, and visible to the caller, before the handler runs. */
type PathRecords<Path extends string> = ('repo' extends Names<Path> ? { repo: PathRepository } : unknown) &
  ('org' extends Names<Path> ? { org: PathOrganization } : unknown) &
  ('team_slug' extends Names<Path> ? { team: PathTeam } : unknown) &
  ('username' extends Names<Path> ? { user: Account } : unknown)

/** An app sees what it is installed on, so its endpoints get the names of a path and load the records themselves. */
type PathNames<Path extends string> = { names: Record<Names<Path>, string> }

type Params<Path extends string> = {
  [Name in Exclude<Names<Path>, 'owner' | 'repo' | 'org' | 'team_slug' | 'username'>]: Name extends 'client_id'
    ? string
    : Name extends `${string}_id` | `${string}_number`
      ? number
      : string
}

/** Ids in a path are numbers, except the client ids of applications. */
export const isNumbered = (name: string) => /_(id|number)$/.test(name) && name !== 'client_id'

export interface BaseContext {
  storage: Storage
  caller: Caller
  /** The IP address of the client. */
  address: string
  wire: Wire
  variant: Variant
  dialect: Dialect
  page: Page
  /** The caller's rate limit, if there is one. */
  allowance: Allowance | null
  /** For a stream: what the client has seen last, or the bookmark the last answer gave; null to begin with. */
  following: string | null | undefined
  revalidate: Revalidate
  /** Caches data that is read far more often than it changes, see ReadCache. */
  cached<T>(key: string, load: () => Promise<T>): Promise<T>
}

/**
 * For responses with a short key: `key` contains everything that the body depends on, and `make` is called only if the client does not have
 * that body. Without this, the ETag is computed from the finished body.
 */
export type Revalidate = <Result>(key: string, make: () => Result) => Result | Answer<never>

export type Context<Path extends string, D extends Declaration, Db> = BaseContext &
  (D extends { viewer: 'app' } ? PathNames<Path> : PathRecords<Path>) & {
    db: D extends { own_transaction: true } ? Database : Db
    viewer: D extends { viewer: 'optional' } ? Account | null : D extends { viewer: 'client' | 'app' } ? null : Account
    application: D extends { viewer: 'client' } ? Application : undefined
    medium: D extends { media: readonly (infer One)[] } ? One | undefined : undefined
    app: D extends { viewer: 'app' } ? App : undefined
    params: Params<Path>
    body: D extends { raw_body: true } ? RawBody : D extends { body: infer Body extends TObject } ? Static<Body> : undefined
    query: D extends { query: infer Fields extends QueryFields } ? Query<Fields> : Record<never, never>
  }

/** A body as the client sends it. */
export interface RawBody {
  /** Fails at its end if the caller has lost access in the meantime. */
  content: AsyncIterable<Buffer>
  /** The content type; empty if there is none. */
  type: string
}

/** A response with more than a body. */
export class Answer<Body> {
  readonly body: Body
  readonly status: number | undefined
  readonly headers: Record<string, string>
  readonly total: number | undefined
  readonly cursors: Cursors | undefined
  readonly changed_at: Date | undefined
  /** Where a stream continues from. */
  readonly bookmark: string | undefined
  /** What a polled response depends on, if it is known: the response is right until one of them changes. */
  readonly topics: readonly Topic[] | undefined
  /** What must be done before a polled response is sent. It runs while the version of the response is looked up. */
  readonly before_sending: (() => Promise<unknown>) | undefined

  constructor(
    body: Body,
    more: Partial<
      Pick<Answer<Body>, 'status' | 'headers' | 'total' | 'cursors' | 'changed_at' | 'bookmark' | 'topics' | 'before_sending'>
    >,
  ) {
    this.body = body
    this.status = more.status
    this.headers = more.headers ?? {}
    this.total = more.total
    this.cursors = more.cursors
    this.changed_at = more.changed_at
    this.bookmark = more.bookmark
    this.topics = more.topics
    this.before_sending = more.before_sending
  }
}

/** 201 with the address of the new resource. */
export const created = <Body extends { url: string }>(body: Body) =>
  new Answer(body, { status: 201, headers: { Location: body.url } })

/** What a list declares: pages of items with this schema. */
export const listOf = <Item extends TSchema>(item: Item) => ({ list: true, answers: { 200: Type.Array(item) } }) as const

/** A page of a list. */
export const paged = <Row, Json>({ rows, total }: Listed<Row>, write: (row: Row) => Json) =>
  new Answer(rows.map(write), { total })

/** A response with `Last-Modified`. */
export const changed = <Body>(body: Body, changed_at: Date) => new Answer(body, { changed_at })

type Body<D extends Declaration> = Static<Extract<D['answers'][keyof D['answers']], TSchema>>
type Sent<D extends Declaration> = D extends { media: readonly Medium[] } ? Body<D> | Represented : Body<D>
type Result<D extends Declaration> = D extends { streamed: true } ? Step : Sent<D> | Answer<Sent<D>> | Answer<never>
type Handler<Path extends string, D extends Declaration, Db> = (context: Context<Path, D, Db>) => Result<D> | Promise<Result<D>>

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A declared endpoint; the specific types of its handler are erased. */
export interface Endpoint extends Declaration {
  method: Method
  path: string
  handler: (context: never) => unknown
}

export interface Group {
  title: string
  endpoints: Endpoint[]
}

export const group = (title: string, endpoints: Endpoint[]): Group => ({ title, endpoints })

const declare =
  <Db>(method: Method) =>
  <const Path extends string, const D extends Declaration>(
    path: Path,
    declaration: D,
    handler: Handler<Path, D, Db>,
  ): Endpoint => ({
    ...declaration,
    method,
    path,
    handler,
  })

/** A GET handler gets the database. Other handlers get a transaction, which ends before the response is sent. */
export const get = declare<Database>('GET')
export const post = declare<Transaction>('POST')
export const put = declare<Transaction>('PUT')
export const patch = declare<Transaction>('PATCH')
export const del = declare<Transaction>('DELETE')

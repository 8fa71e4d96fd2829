import type { Storage } from '#git/storage.ts'
import type { Wire } from '#http/serialization.ts'
import type { Access } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import type { Caller } from '#identity/callers.ts'
import type { Application } from '#identity/clients.ts'
import type { Permission } from '#identity/permissions.ts'
import type { Scope } from '#identity/scopes.ts'
import type { Database, Listed, Transaction } from '#platform/database.ts'
import type { Reason } from '#platform/errors.ts'
import type { Static, TObject, TSchema } from '#platform/schema.ts'
import type { Variant } from '#variants.ts'
import type { Dialect } from './dialects.ts'
import type { Query, QueryFields } from './input.ts'
import type { Cursors, Page, PageRule } from './paging.ts'
import type { Allowance } from './rate-limit.ts'
import type { Step } from './stream.ts'

/** An endpoint's contract: who may call it, what it takes, what it gives. */
export interface Declaration {
  /** The name that public clients' documentation has for it. */
  operation: string
  summary: string
  /** What a fine-grained token needs. */
  permission: Permission
  /** Any other token needs one of these; with none named, it will do as it is. */
  scopes?: readonly Scope[]
  /** Scopes that are not needed, and show more. */
  optional_scopes?: readonly Scope[]
  /**
   * `optional`: callers without a name are welcome. `site_admin`: to anyone else it does not exist. `password`: a user, by password and,
   * where they have a second factor, a code; no token will do. `classic_token`: a user, by a classic personal token and nothing else.
   * `client`: an application, by its id and secret.
   */
  viewer?: 'optional' | 'site_admin' | 'password' | 'classic_token' | 'client'
  /** Its scopes are enough for private repositories too: nothing of what these hold is shown. */
  sees_private?: true
  /** What the viewer must be allowed to do in the path's repository, beyond seeing it. */
  access?: Access
  /** What the viewer must be in the path's organization. */
  org_role?: 'member' | 'owner'
  body?: TObject
  /** How long a body may be, where a megabyte is too little. */
  longest_body?: number
  query?: QueryFields
  /**
   * Takes `page` and `per_page`, answers with `Link`; `true` for pages as most lists have them. One `by cursor` has no `page`, and declares
   * its cursor itself.
   */
  list?: true | 'by cursor' | ((variant: Variant) => PageRule)
  /** Clients ask again and again: the answer is kept for the moment, see ReadCache, and says when to come back. */
  polled?: true
  /** A polled answer says with `Last-Modified` since when it is what it is. */
  dated?: true
  /**
   * Those who ask for `text/event-stream` get the same list as it grows, see `following`. What comes is known by its own id, or by the
   * place it was found at, when the same thing may come again.
   */
  followed?: 'by id' | 'by place'
  /** Answers with nothing but a stream, whatever the client takes: the handler tells what a look found, from `following` on. */
  streamed?: true
  /** The handler opens its transaction itself, after slow work that must not be inside one. */
  own_transaction?: true
  /** What it gives, by status; the lowest is the usual one. */
  answers: Record<number, TSchema>
  /** Reasons for which it may refuse that do not follow from the rest of the declaration, for the OpenAPI document; see openapi.ts. */
  refuses?: readonly Reason[]
  /** Throws while it is served to nobody; asked before the body is looked at. */
  checkOpen?: (variant: Variant) => void
  /** Variants that do not have it answer as if it did not exist. */
  served?: (variant: Variant) => boolean
}

/** Names in a path: `{owner}` and `{repo}` of `/repos/{owner}/{repo}`. A last `{path+}` takes the whole rest, slashes and all. */
type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Plain<Name> | Names<Rest> : never
type Plain<Name extends string> = Name extends `${infer Word}+` ? Word : Name

/** A path as it is shown: how much of an address a name takes is the router's business. */
export const plainPath = (path: string) => path.replace('+}', '}')

/**
 * The records that `{owner}/{repo}`, `{org}` and `{team_slug}` in a path stand for, with the fields that the router reads. hosting/path-records.ts
 * adds all other fields to these interfaces, and app.ts passes the functions that load the records.
 */
export interface PathRepository {
  private: boolean
  access: number
}
export interface PathOrganization {
  id: number
}
export interface PathTeam {
  id: number
}

/** A record named in the path is found, and visible to the caller, before the handler runs. */
type PathRecords<Path extends string> = ('repo' extends Names<Path> ? { repo: PathRepository } : unknown) &
  ('org' extends Names<Path> ? { org: PathOrganization } : unknown) &
  ('team_slug' extends Names<Path> ? { team: PathTeam } : unknown) &
  ('username' extends Names<Path> ? { user: Account } : unknown)

type Params<Path extends string> = {
  [Name in Exclude<Names<Path>, 'owner' | 'repo' | 'org' | 'team_slug' | 'username'>]: Name extends 'client_id'
    ? string
    : Name extends `${string}_id` | `${string}_number`
      ? number
      : string
}

/** Ids in a path are numbers, but for those that applications are known by. */
export const isNumbered = (name: string) => /_(id|number)$/.test(name) && name !== 'client_id'

export interface BaseContext {
  storage: Storage
  caller: Caller
  /** Where the request comes from. */
  address: string
  wire: Wire
  variant: Variant
  dialect: Dialect
  page: Page
  /** The caller's rate limit where there is one. */
  allowance: Allowance | null
  /** For a stream: what the client has seen last, or the place the last answer gave; null to begin with. */
  following: string | null | undefined
  revalidate: Revalidate
  /** Reads once for the requests of a moment, see ReadCache; for what is read far more often than it changes. */
  cached<T>(key: string, load: () => Promise<T>): Promise<T>
}

/**
 * For answers that follow from something small: `key` names all that the body depends on, and the body is made only for a client
 * that has another one. Without it, the validator is taken from the finished body.
 */
export type Revalidate = <Result>(key: string, make: () => Result) => Result | Answer<never>

export type Context<Path extends string, D extends Declaration, Db> = BaseContext &
  PathRecords<Path> & {
    db: D extends { own_transaction: true } ? Database : Db
    viewer: D extends { viewer: 'optional' } ? Account | null : D extends { viewer: 'client' } ? null : Account
    application: D extends { viewer: 'client' } ? Application : undefined
    params: Params<Path>
    body: D extends { body: infer Body extends TObject } ? Static<Body> : undefined
    query: D extends { query: infer Fields extends QueryFields } ? Query<Fields> : Record<never, never>
  }

/** An answer that is more than a body. */
export class Answer<Body> {
  readonly body: Body
  readonly status: number | undefined
  readonly headers: Record<string, string>
  readonly total: number | undefined
  readonly cursors: Cursors | undefined
  readonly changed_at: Date | undefined
  /** Where whoever follows goes on from here. */
  readonly place: string | undefined

  constructor(
    body: Body,
    more: Partial<Pick<Answer<Body>, 'status' | 'headers' | 'total' | 'cursors' | 'changed_at' | 'place'>>,
  ) {
    this.body = body
    this.status = more.status
    this.headers = more.headers ?? {}
    this.total = more.total
    this.cursors = more.cursors
    this.changed_at = more.changed_at
    this.place = more.place
  }
}

/** 201 with the address of what was made. */
export const created = <Body extends { url: string }>(body: Body) =>
  new Answer(body, { status: 201, headers: { Location: body.url } })

/** A page of a list, each row written as JSON. */
export const paged = <Row, Json>({ rows, total }: Listed<Row>, write: (row: Row) => Json) =>
  new Answer(rows.map(write), { total })

/** Something that knows when it last changed. */
export const changed = <Body>(body: Body, changed_at: Date) => new Answer(body, { changed_at })

type Body<D extends Declaration> = Static<Extract<D['answers'][keyof D['answers']], TSchema>>
type Result<D extends Declaration> = D extends { streamed: true } ? Step : Body<D> | Answer<Body<D>> | Answer<never>
type Handler<Path extends string, D extends Declaration, Db> = (context: Context<Path, D, Db>) => Result<D> | Promise<Result<D>>

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An endpoint whose handler's own types are settled where it is declared, and no longer needed. */
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

/** Reads need no transaction; writes are one, from before the handler to the answer. */
export const get = declare<Database>('GET')
export const post = declare<Transaction>('POST')
export const put = declare<Transaction>('PUT')
export const patch = declare<Transaction>('PATCH')
export const del = declare<Transaction>('DELETE')

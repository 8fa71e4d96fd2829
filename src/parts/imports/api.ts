import type { Belfry } from '#belfry.ts'
import { created, del, type Group, get, group, paged, patch, put } from '#http/endpoint.ts'
import { choice, text } from '#http/input.ts'
import { Represented } from '#http/media.ts'
import { readBounded } from '#http/raw-body.ts'
import { Nothing } from '#http/serialization.ts'
import { type Kind, kinds, type LayoutPatterns } from '#importer/source.ts'
import { Type } from '#platform/schema.ts'
import type { Variant } from '#variants.ts'
import { listAuthors, mapAuthor } from './authors.ts'
import { applyAuthorsCsv, longestCsv, writeAuthorsCsv } from './authors-csv.ts'
import { checkOpen, importDeps } from './availability.ts'
import { loadImport, loadReport } from './import-store.ts'
import { cancelImport, startImport, updateImport } from './imports.ts'
import { AuthorSchema, authorJson, ImportSchema, importJson, LargeFileSchema, ReportSchema, reportJson } from './json.ts'
import { listLargeFiles, setLfsPreference } from './large-files.ts'

const Secret = Type.String({ maxLength: 1024 })
const Folders = Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 25 })
const Layout = Type.Unsafe<LayoutPatterns | null>({
  type: ['object', 'null'],
  properties: { trunk: Type.String({ maxLength: 1024 }), branches: Folders, tags: Folders },
  required: ['trunk', 'branches', 'tags'],
  additionalProperties: false,
})
const options = {
  vcs: Type.Unsafe<Kind>({ type: 'string', enum: kinds }),
  vcs_username: Secret,
  vcs_password: Secret,
  tfvc_project: Type.String({ maxLength: 255 }),
  svn_ignore: Type.Boolean(),
  gitattributes: Type.Boolean(),
  svn_layout: Layout,
  keep_deleted: Type.Boolean(),
}
const NewImportSchema = Type.Object({
  vcs_url: Type.String({ maxLength: 2048 }),
  ...Type.Partial(Type.Object(options)).properties,
})
/** The caller sends the keys of a chosen project as `project_choices` shows them. */
const ImportChanges = Type.Partial(
  Type.Object({ ...options, svn_root: Type.String({ maxLength: 2048 }), human_name: Type.String({ maxLength: 2048 }) }),
)
const Mapping = Type.Object(
  Type.Partial(Type.Object({ email: Type.String({ maxLength: 1024 }), name: Type.String({ maxLength: 1024 }) })).properties,
  { additionalProperties: false },
)
const Preference = Type.Object({ use_lfs: Type.Unsafe<'opt_in' | 'opt_out'>({ type: 'string', enum: ['opt_in', 'opt_out'] }) })

export const importApi = (belfry: Belfry): Group => {
  const { settings, clock } = belfry
  const deps = importDeps(belfry)
  const path = '/repos/{owner}/{repo}/import'
  const reads = {
    permission: 'classic',
    viewer: 'classic_token',
    scopes: ['public_repo', 'repo'],
    checkOpen: (variant: Variant) => checkOpen(settings, variant, clock.now()),
  } as const
  const writes = { ...reads, access: 'push' } as const
  return group('Source imports', [
    get(
      path,
      {
        ...reads,
        operation: 'migrations/get-import-status',
        summary: 'Get the status of an import',
        answers: { 200: ImportSchema },
      },
      async ({ db, repo, wire }) => importJson(await loadImport(db, repo), repo, wire),
    ),
    put(
      path,
      {
        ...writes,
        operation: 'migrations/start-import',
        summary: 'Start an import into an empty repository',
        query: { verify: choice('sample', 'full') },
        body: NewImportSchema,
        answers: { 201: ImportSchema },
      },
      async ({ db, repo, viewer, body, query, wire }) => {
        const verify_all = query.verify === 'full'
        return created(importJson(await startImport(db, deps, repo, viewer, { ...body, verify_all }), repo, wire))
      },
    ),
    patch(
      path,
      {
        ...writes,
        operation: 'migrations/update-import',
        summary: 'Update an import with credentials, a chosen project or another layout; an empty body restarts it',
        body: ImportChanges,
        answers: { 200: ImportSchema },
      },
      async ({ db, repo, viewer, body, wire }) => importJson(await updateImport(db, deps, viewer, repo, body), repo, wire),
    ),
    del(
      path,
      {
        ...writes,
        operation: 'migrations/cancel-import',
        summary: 'Cancel an import; a repository that is already imported stays',
        answers: { 204: Nothing },
      },
      ({ db, repo, viewer }) => cancelImport(db, viewer, repo),
    ),
    get(
      `${path}/authors`,
      {
        ...reads,
        operation: 'migrations/get-commit-authors',
        summary: 'List the commit authors; with `since`, those after that id',
        query: { since: text() },
        list: true,
        answers: { 200: Type.Array(AuthorSchema) },
      },
      async ({ db, repo, query, page, wire }) => {
        const since = /^\d{1,15}$/.test(query.since) ? Number(query.since) : 0
        return paged(await listAuthors(db, repo, since, page), (author) => authorJson(author, repo, wire))
      },
    ),
    get(
      `${path}/authors.csv`,
      {
        ...reads,
        operation: 'migrations/get-commit-authors-csv',
        summary: 'Get all commit authors as CSV with the columns remote_id, name and email',
        media: ['text/csv'],
        answers: { 200: Type.String() },
      },
      async ({ db, repo }) => new Represented('text/csv', await writeAuthorsCsv(db, repo)),
    ),
    put(
      `${path}/authors.csv`,
      {
        ...writes,
        operation: 'migrations/map-commit-authors-csv',
        summary: 'Map the commit authors of a CSV file, until the first push; the body is the file',
        raw_body: true,
        own_transaction: true,
        refuses: ['too_large'],
        answers: { 200: Type.Object({ changed: Type.Integer() }) },
      },
      async ({ db, repo, body }) => {
        const csv = await readBounded(body.content, longestCsv)
        return { changed: await db.transaction((transaction) => applyAuthorsCsv(transaction, repo, csv)) }
      },
    ),
    patch(
      `${path}/authors/{author_id}`,
      {
        ...writes,
        operation: 'migrations/map-commit-author',
        summary: 'Map a commit author to a name and email, until the first push',
        body: Mapping,
        answers: { 200: AuthorSchema },
      },
      async ({ db, repo, params, body, wire }) => authorJson(await mapAuthor(db, repo, params.author_id, body), repo, wire),
    ),
    get(
      `${path}/large_files`,
      {
        ...reads,
        operation: 'migrations/get-large-files',
        summary: 'List the files of more than 100 MB',
        list: true,
        answers: { 200: Type.Array(LargeFileSchema) },
      },
      async ({ db, repo, page }) => paged(await listLargeFiles(db, repo, page), (file) => file),
    ),
    patch(
      `${path}/lfs`,
      {
        ...writes,
        operation: 'migrations/set-lfs-preference',
        summary: 'Choose whether large files are stored with Git LFS or left out',
        body: Preference,
        answers: { 200: ImportSchema },
      },
      async ({ db, repo, viewer, body, wire }) => importJson(await setLfsPreference(db, viewer, repo, body.use_lfs), repo, wire),
    ),
    get(
      `${path}/report`,
      {
        ...reads,
        operation: 'migrations/get-import-report',
        summary: 'Get the report of an import: counts, omissions and the comparison with the source',
        answers: { 200: ReportSchema },
      },
      async ({ db, repo, wire }) => reportJson(await loadReport(db, repo), repo, wire),
    ),
  ])
}

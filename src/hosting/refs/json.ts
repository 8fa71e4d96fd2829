import type { CommitObject, Ref, Signature } from '#git/objects.ts'
import type { SignedText } from '#git/signed-text.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { BranchProtectionSchema, branchProtectionJson, protectionUrl } from '#hosting/protection/json.ts'
import type { Protection } from '#hosting/protection/rules.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, encodePath, NullableString, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { Person } from '#identity/accounts.ts'
import { type Static, Type } from '#platform/schema.ts'

type Named = Pick<Repository, 'id' | 'owner_login' | 'name'>

const pathOf = ({ owner_login, name }: Named) => `${owner_login}/${name}`

export { encodePath }

/** Node ids are opaque. */
export const gitNodeId = (kind: string, { id }: Named, name: string) =>
  Buffer.from(`0${kind.length}:${kind}${id}:${name}`).toString('base64')

export const GitRef = Type.Object(
  {
    ref: Type.String(),
    node_id: Type.String(),
    url: Address,
    object: Type.Object({ type: Type.String(), sha: Type.String(), url: Address }),
  },
  { title: 'GitRef' },
)

export function refJson({ name, sha, type }: Ref, repo: Named, wire: Wire): Static<typeof GitRef> {
  const above = `${wire.api}/repos/${pathOf(repo)}/git`
  return {
    ref: name,
    node_id: gitNodeId('Ref', repo, name),
    url: `${above}/${encodePath(name)}`,
    object: { type, sha, url: `${above}/${type}s/${sha}` },
  }
}

export const Signed = Type.Object({ name: Type.String(), email: Type.String(), date: Timestamp })
const Parents = Type.Array(Type.Object({ sha: Type.String(), url: Address, html_url: Address }))
const Tree = Type.Object({ sha: Type.String(), url: Address })
export const Verification = Type.Object({
  verified: Type.Boolean(),
  reason: Type.String(),
  signature: NullableString,
  payload: NullableString,
  verified_at: NullableString,
})

export const signed = ({ name, email, date }: Signature) => ({ name, email, date: timestamp(date) })

/** Belfry knows no keys, so it shows signatures and verifies none. */
export function verificationOf(signed: SignedText | undefined): Static<typeof Verification> {
  const { signature = null, payload = null } = signed ?? {}
  const known = signature?.startsWith('-----BEGIN PGP')
  const reason = signature === null ? 'unsigned' : known ? 'gpgverify_unavailable' : 'unknown_signature_type'
  return { verified: false, reason, signature, payload, verified_at: null }
}

/** A git commit. */
export const GitCommit = Type.Object(
  {
    sha: Type.String(),
    node_id: Type.String(),
    url: Address,
    html_url: Address,
    author: Signed,
    committer: Signed,
    tree: Tree,
    message: Type.String(),
    parents: Parents,
    verification: Verification,
  },
  { title: 'GitCommit' },
)

export function gitCommitJson(commit: CommitObject, repo: Named, wire: Wire): Static<typeof GitCommit> {
  const above = `${wire.api}/repos/${pathOf(repo)}/git`
  const pages = `${wire.web}/${pathOf(repo)}/commit`
  return {
    sha: commit.sha,
    node_id: gitNodeId('Commit', repo, commit.sha),
    url: `${above}/commits/${commit.sha}`,
    html_url: `${pages}/${commit.sha}`,
    author: signed(commit.author),
    committer: signed(commit.committer),
    tree: { sha: commit.tree, url: `${above}/trees/${commit.tree}` },
    message: commit.message,
    parents: commit.parents.map((sha) => ({ sha, url: `${above}/commits/${sha}`, html_url: `${pages}/${sha}` })),
    verification: verificationOf(commit.signed),
  }
}

const NullableUser = Type.Unsafe<Static<typeof SimpleUser> | null>({ ...SimpleUser, nullable: true })

/** A commit of the repository, with its author's and committer's accounts. */
export const Commit = Type.Object(
  {
    sha: Type.String(),
    node_id: Type.String(),
    url: Address,
    html_url: Address,
    comments_url: Address,
    commit: Type.Object({
      url: Address,
      author: Signed,
      committer: Signed,
      message: Type.String(),
      tree: Tree,
      comment_count: Type.Integer(),
      verification: Verification,
    }),
    author: NullableUser,
    committer: NullableUser,
    parents: Parents,
  },
  { title: 'Commit' },
)

export interface Authors {
  author?: Person | undefined
  committer?: Person | undefined
}

export function commitJson(
  commit: CommitObject,
  { author, committer, comments = 0 }: Authors & { comments?: number | undefined },
  repo: Named,
  wire: Wire,
): Static<typeof Commit> {
  const inGit = gitCommitJson(commit, repo, wire)
  const above = `${wire.api}/repos/${pathOf(repo)}/commits`
  return {
    sha: commit.sha,
    node_id: inGit.node_id,
    url: `${above}/${commit.sha}`,
    html_url: inGit.html_url,
    comments_url: `${above}/${commit.sha}/comments`,
    commit: {
      url: inGit.url,
      author: inGit.author,
      committer: inGit.committer,
      message: commit.message,
      tree: inGit.tree,
      comment_count: comments,
      verification: inGit.verification,
    },
    author: author ? userJson(author, wire) : null,
    committer: committer ? userJson(committer, wire) : null,
    parents: inGit.parents.map((parent) => ({ ...parent, url: `${above}/${parent.sha}` })),
  }
}

export const ShortBranch = Type.Object(
  {
    name: Type.String(),
    commit: Type.Object({ sha: Type.String(), url: Address }),
    protected: Type.Boolean(),
    protection: BranchProtectionSchema,
    protection_url: Address,
  },
  { title: 'ShortBranch' },
)

export const shortName = ({ name }: Ref) => name.slice('refs/heads/'.length)

export function shortBranchJson(
  branch: Ref,
  protection: Protection | undefined,
  repo: Named,
  wire: Wire,
): Static<typeof ShortBranch> {
  const url = `${wire.api}/repos/${pathOf(repo)}/commits/${branch.sha}`
  return { name: shortName(branch), commit: { sha: branch.sha, url }, ...protectionOf(branch, protection, repo, wire) }
}

function protectionOf(branch: Ref, protection: Protection | undefined, repo: Named, wire: Wire) {
  return {
    protected: protection !== undefined,
    protection: branchProtectionJson(protection),
    protection_url: protectionUrl(repo, shortName(branch), wire),
  }
}

export const Branch = Type.Object(
  {
    name: Type.String(),
    commit: Commit,
    _links: Type.Object({ self: Address, html: Address }),
    protected: Type.Boolean(),
    protection: BranchProtectionSchema,
    protection_url: Address,
  },
  { title: 'Branch' },
)

export function branchJson(
  branch: Ref,
  protection: Protection | undefined,
  commit: Static<typeof Commit>,
  repo: Named,
  wire: Wire,
): Static<typeof Branch> {
  const name = encodePath(shortName(branch))
  const url = `${wire.api}/repos/${pathOf(repo)}/branches/${name}`
  return {
    name: shortName(branch),
    commit,
    _links: { self: url, html: `${wire.web}/${pathOf(repo)}/tree/${name}` },
    ...protectionOf(branch, protection, repo, wire),
  }
}

export const TagSchema = Type.Object(
  {
    name: Type.String(),
    zipball_url: Address,
    tarball_url: Address,
    commit: Type.Object({ sha: Type.String(), url: Address }),
    node_id: Type.String(),
  },
  { title: 'Tag' },
)

/** A tag, and the commit that it leads to. */
export interface TagCommit {
  name: string
  sha: string
}

export function tagJson({ name, sha }: TagCommit, repo: Named, wire: Wire): Static<typeof TagSchema> {
  const url = `${wire.api}/repos/${pathOf(repo)}`
  const ref = `refs/tags/${encodePath(name)}`
  return {
    name,
    zipball_url: `${url}/zipball/${ref}`,
    tarball_url: `${url}/tarball/${ref}`,
    commit: { sha, url: `${url}/commits/${sha}` },
    node_id: gitNodeId('Ref', repo, `refs/tags/${name}`),
  }
}

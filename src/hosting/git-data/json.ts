import type { TagObject } from '#git/objects.ts'
import { inLines } from '#hosting/contents/json.ts'
import { gitNodeId, Signed, signed, Verification, verificationOf } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Blob } from './git-data.ts'

const above = ({ owner_login, name }: Repository, { api }: Wire) => `${api}/repos/${owner_login}/${name}/git`

export const GitBlob = Type.Object(
  {
    sha: Type.String(),
    node_id: Type.String(),
    size: Type.Integer(),
    url: Address,
    content: Type.String(),
    encoding: Type.String(),
  },
  { title: 'GitBlob' },
)

export function blobJson({ sha, content }: Blob, repo: Repository, wire: Wire): Static<typeof GitBlob> {
  return {
    sha,
    node_id: gitNodeId('Blob', repo, sha),
    size: content.length,
    url: `${above(repo, wire)}/blobs/${sha}`,
    content: inLines(content),
    encoding: 'base64',
  }
}

export const ShortBlob = Type.Object({ url: Address, sha: Type.String() }, { title: 'ShortBlob' })

export const shortBlobJson = (sha: string, repo: Repository, wire: Wire) => ({ url: `${above(repo, wire)}/blobs/${sha}`, sha })

/** An annotated tag. */
export const GitTag = Type.Object(
  {
    node_id: Type.String(),
    tag: Type.String(),
    sha: Type.String(),
    url: Address,
    message: Type.String(),
    tagger: Signed,
    object: Type.Object({ sha: Type.String(), type: Type.String(), url: Address }),
    verification: Verification,
  },
  { title: 'GitTag' },
)

export function tagJson(
  { sha, tag, message, tagger, object, type, signed: text }: TagObject,
  repo: Repository,
  wire: Wire,
): Static<typeof GitTag> {
  const urls = above(repo, wire)
  return {
    node_id: gitNodeId('Tag', repo, sha),
    tag,
    sha,
    url: `${urls}/tags/${sha}`,
    message,
    tagger: signed(tagger),
    object: { sha: object, type, url: `${urls}/${type}s/${object}` },
    verification: verificationOf(text),
  }
}

import { Address, NullableTimestamp, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { HookTarget } from '#parts/webhooks/hook-target.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Replay } from './replays.ts'

export const ReplaySchema = Type.Object(
  {
    id: Type.Integer(),
    url: Address,
    status: Type.Unsafe<Replay['status']>({ type: 'string', enum: ['queued', 'running', 'done', 'cancelled'] }),
    since: Timestamp,
    until: Timestamp,
    events: Type.Array(Type.String()),
    total: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    told: Type.Integer(),
    passed_over: Type.Integer(),
    created_at: Timestamp,
    finished_at: NullableTimestamp,
  },
  { title: 'HookReplay' },
)

export function replayJson(replay: Replay, { path }: HookTarget, wire: Wire): Static<typeof ReplaySchema> {
  return {
    id: replay.id,
    url: `${wire.api}/${path}/hooks/${replay.hook_id}/replays/${replay.id}`,
    status: replay.status,
    since: timestamp(replay.since),
    until: timestamp(replay.until),
    events: replay.events,
    total: replay.total,
    told: replay.told,
    passed_over: replay.passed_over,
    created_at: timestamp(replay.created_at),
    finished_at: replay.finished_at && timestamp(replay.finished_at),
  }
}

import { Answer, del, type Endpoint, get, group, paged, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { targetOf } from '#parts/webhooks/hook-target.ts'
import { loadHook } from '#parts/webhooks/hooks.ts'
import { ofEachTarget, type TargetType } from '#parts/webhooks/target-types.ts'
import { Type } from '#platform/schema.ts'
import { ReplaySchema, replayJson } from './json.ts'
import { cancelReplay, createReplay, listReplays, loadReplay, NewReplay } from './replays.ts'

const endpointsOf = ({ prefix, names, reads, writes }: TargetType): Endpoint[] => [
  get(
    `${prefix}/hooks/{hook_id}/replays`,
    {
      ...reads,
      operation: `${names}/list-webhook-replays`,
      summary: 'Replays of a webhook, newest first',
      list: true,
      answers: { 200: Type.Array(ReplaySchema) },
    },
    async ({ db, params, page, wire, ...context }) => {
      const target = targetOf(context)
      const hook = await loadHook(db, target, params.hook_id)
      return paged(await listReplays(db, hook, page), (replay) => replayJson(replay, target, wire))
    },
  ),
  post(
    `${prefix}/hooks/{hook_id}/replays`,
    {
      ...writes,
      operation: `${names}/create-webhook-replay`,
      summary: 'Redeliver the events of a period from the event log, at most ten per second',
      body: NewReplay,
      answers: { 202: ReplaySchema },
    },
    async ({ db, viewer, params, body, wire, ...context }) => {
      const target = targetOf(context)
      const hook = await loadHook(db, target, params.hook_id)
      const replay = replayJson(await createReplay(db, viewer, hook, body), target, wire)
      return new Answer(replay, { headers: { Location: replay.url } })
    },
  ),
  get(
    `${prefix}/hooks/{hook_id}/replays/{replay_id}`,
    {
      ...reads,
      operation: `${names}/get-webhook-replay`,
      summary: 'Get the progress of a replay',
      answers: { 200: ReplaySchema },
    },
    async ({ db, params, wire, ...context }) => {
      const target = targetOf(context)
      const hook = await loadHook(db, target, params.hook_id)
      return replayJson(await loadReplay(db, hook, params.replay_id), target, wire)
    },
  ),
  del(
    `${prefix}/hooks/{hook_id}/replays/{replay_id}`,
    {
      ...writes,
      operation: `${names}/cancel-webhook-replay`,
      summary: 'Cancel an unfinished replay; deliveries that are already stored are sent',
      answers: { 204: Nothing },
    },
    async ({ db, params, ...context }) => {
      const hook = await loadHook(db, targetOf(context), params.hook_id)
      await cancelReplay(db, await loadReplay(db, hook, params.replay_id))
    },
  ),
]

export const api = group('Webhook replays', ofEachTarget(endpointsOf))

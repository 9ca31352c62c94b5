import { PublishEventsInput } from '../contract/messages.ts'
import { publishEvents } from '../job/publish-events.ts'
import { task } from '../job/task.ts'

/** Publishes the job's events after its transitions committed. A second run publishes what is left, or again: at least once. */
export const handler = task('PublishEvents', PublishEventsInput, ({ job }, context) => publishEvents(context, job.id))

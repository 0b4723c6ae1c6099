"""What Crawlee for Python sees in a storage folder that Nephila wrote, and what it writes back.

python theirs.py queue STORAGE        makes a request queue and prints its id and what Crawlee itself calls its state
python theirs.py visit STORAGE ID     opens everything with Crawlee's own classes, prints what it saw, changes some of it
python theirs.py fetch STORAGE        prints the order in which the queue gives its requests
python theirs.py exported STORAGE ID  prints what it sees of an exported job, and goes on with its queue

What is printed is one JSON document. Whatever goes wrong is an exception: the test shows it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Any

from crawlee import Request, service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import BasicCrawler
from crawlee.events import LocalEventManager
from crawlee.sessions import SessionPool
from crawlee.statistics import Statistics, StatisticsState
from crawlee.storage_clients import FileSystemStorageClient
from crawlee.storage_clients._file_system._request_queue_client import RequestQueueState
from crawlee.storages import Dataset, KeyValueStore, RequestQueue


def set_up(storage: str) -> None:
    # Without this, Crawlee empties the store without a name when it opens it.
    configuration = Configuration(storage_dir=storage, purge_on_start=False)
    service_locator.set_configuration(configuration)
    service_locator.set_storage_client(FileSystemStorageClient())
    service_locator.set_event_manager(LocalEventManager.from_config(configuration))


def shown(value: Any) -> Any:
    return {'base64': base64.b64encode(value).decode()} if isinstance(value, bytes) else value


async def queue() -> Any:
    queue = await RequestQueue.open()
    for name in ['r1', 'r2', 'r3', 'f1', 'f2', 'done']:
        await queue.add_request(Request.from_url(f'https://site.test/{name}', unique_key=name))
    return {'id': queue.id, 'fields': sorted(RequestQueueState().model_dump(mode='json'))}


async def fetch() -> Any:
    queue = await RequestQueue.open()
    await queue.add_request(Request.from_url('https://site.test/r4', unique_key='r4'))
    await queue.add_request(Request.from_url('https://site.test/f0', unique_key='f0'), forefront=True)
    # Handled before: not accepted again.
    await queue.add_request(Request.from_url('https://site.test/done', unique_key='done'))
    order = []
    while (request := await queue.fetch_next_request()) is not None:
        order.append(request.unique_key)
        await queue.mark_request_as_handled(request)
    return order


async def visit(crawler_id: str) -> Any:
    seen: dict[str, Any] = {}
    kvs = await KeyValueStore.open()
    seen['store'] = {'id': kvs.id, 'name': kvs.name}
    seen['keys'] = [[info.key, info.content_type, info.size] for info in await kvs.list_keys()]
    seen['values'] = {
        key: shown(await kvs.get_value(key, 'absent')) for key in ['text', 'bytes', 'none', 'json', 'a b/ü', 'nothing']
    }
    seen['exists'] = [await kvs.record_exists(key) for key in ['none', 'nothing']]

    named = await KeyValueStore.open(name='my-store')
    seen['named'] = {'name': named.name, 'value': await named.get_value('a')}

    # Statistics: as a model, and as a crawler takes them up.
    key = f'__CRAWLER_STATISTICS_{crawler_id}'
    state = StatisticsState.model_validate(await kvs.get_value(key))
    seen['statistics'] = state.model_dump(mode='json', by_alias=True)
    async with Statistics.with_default_state(persistence_enabled=True, persist_state_key=key) as statistics:
        calculated = statistics.calculate()
        seen['runtime'] = calculated.crawler_runtime.total_seconds()
        seen['calculated'] = {
            'requests_finished': calculated.requests_finished,
            'requests_total': calculated.requests_total,
            'retry_histogram': calculated.retry_histogram,
            'avg_finished': calculated.request_avg_finished_duration.total_seconds(),
        }
        statistics.register_status_code(200)
        statistics.record_request_processing_start('one')
        statistics.record_request_processing_finish('one')

    # `use_state` of a crawler of the same id; what it changes is saved as at the end of a run.
    crawler = BasicCrawler(id=crawler_id, configure_logging=False)
    use_state = await crawler.use_state({'not': 'used'})
    seen['use_state'] = dict(use_state)
    use_state['theirs'] = [1, {'ü': None}]
    use_state['count'] += 1
    await (await crawler.get_key_value_store()).persist_autosaved_values()

    # Sessions.
    async with SessionPool(persistence_enabled=True, max_pool_size=2) as pool:
        seen['pool'] = [pool.session_count, pool.usable_session_count]
        session = await pool.get_session_by_id('session-1')
        other = await pool.get_session_by_id('session-2')
        seen['session'] = {
            'usage_count': session.usage_count,
            'error_score': session.error_score,
            'user_data': dict(session.user_data),
            'cookies': session.cookies.get_cookies_as_dicts(),
            'cookie_header': session.cookies.get_cookie_string('https://site.test/shop/cart'),
            'expires_at': session.expires_at.isoformat(),
            'blocked': session.is_blocked_status_code(status_code=403),
            'other_usable': other is not None and other.is_usable,
        }
        session.mark_bad()

    # And values of Crawlee's own, for our reader.
    await kvs.set_value('theirs json', {'a': [1, 2.5, None], 'ü': 'ß'})
    await kvs.set_value('theirs/text', 'Grüße')
    await kvs.set_value('theirs.bytes', b'\x00\xff')
    await kvs.set_value('theirs none', None)
    await kvs.set_value('x' * 219, 'as long as a key may be')
    await kvs.set_value('text', {'now': 'json'})
    await kvs.delete_value('bytes')
    return seen


async def exported(crawler_id: str) -> Any:
    seen: dict[str, Any] = {}
    dataset = await Dataset.open()
    data = (await dataset.get_data()).items
    seen['items'] = len(data)
    seen['urls'] = [item['url'] for item in data if 'url' in item]
    prices = await Dataset.open(name='price-list')
    seen['prices'] = (await prices.get_metadata()).item_count
    seen['price'] = (await prices.get_data(limit=1)).items[0]

    kvs = await KeyValueStore.open()
    seen['settings'] = await kvs.get_value('settings')
    seen['auto_saved'] = await kvs.get_value('counts')
    seen['cover'] = shown(await (await KeyValueStore.open(name='covers')).get_value('a b/ü.jpg'))
    crawler = BasicCrawler(id=crawler_id, configure_logging=False)
    seen['state'] = dict(await crawler.use_state({}))
    state = StatisticsState.model_validate(await kvs.get_value(f'__CRAWLER_STATISTICS_{crawler_id}'))
    seen['finished'], seen['failed'] = state.requests_finished, state.requests_failed
    async with SessionPool(persistence_enabled=True) as pool:
        seen['sessions'] = pool.session_count

    queue = await RequestQueue.open()
    metadata = await queue.get_metadata()
    seen['queue'] = {
        'handled': metadata.handled_request_count,
        'pending': metadata.pending_request_count,
        'total': metadata.total_request_count,
    }
    # What was done is known, and what waits comes.
    known = [await queue.add_request(Request.from_url(url)) for url in seen['urls']]
    seen['known_again'] = all(answer is not None and answer.was_already_handled for answer in known)
    fetched = []
    while (request := await queue.fetch_next_request()) is not None:
        fetched.append(request)
        await queue.mark_request_as_handled(request)
    seen['fetched'] = [request.url for request in fetched]
    seen['keys_agree'] = all(Request.from_url(request.url).unique_key == request.unique_key for request in fetched)
    return seen


async def main() -> None:
    command, storage, *rest = sys.argv[1:]
    set_up(storage)
    commands = {'queue': queue, 'fetch': fetch, 'visit': visit, 'exported': exported}
    seen = await commands[command](*rest)
    # A queue saves its order when the manager that it listens to persists.
    async with service_locator.get_event_manager():
        pass
    json.dump(seen, sys.stdout, ensure_ascii=False)


asyncio.run(main())

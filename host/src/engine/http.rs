//! The gate behind HTTP: the component of `bindings/http`, in wasmtime's own `wasi:http`.
//!
//! A request is handed over as a whole, and the answer is taken as a whole: a slow client never keeps an instance
//! waiting. Instances are used again, one request at a time; the component keeps nothing between requests.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response};
use tokio::sync::oneshot;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::bindings::{LinkOptions, Proxy, ProxyPre, http};
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttp, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks,
    WasiHttpView,
};
use wasmtime_wasi_io::IoView;

use super::EngineError;
use super::limits::{GateLimits, MemoryLimiter};
use crate::packed::Packed;

/// The component, as `host/build.rs` made it.
static COMPONENT: Packed = Packed::new(include_bytes!(concat!(
    env!("OUT_DIR"),
    "/http.wasm.packed"
)));

/// How many instances are kept for the next requests.
const KEPT: usize = 16;
/// An instance with more bytes of memory is not kept.
const LARGE: usize = 8 << 20;

/// The component that answers HTTP requests, compiled and linked.
///
/// It is linked with `wasi:http/types` and `wasi:io` alone: it can neither call anybody nor see a clock.
pub struct HttpGate {
    template: ProxyPre<Guest>,
    limits: GateLimits,
    spare: Mutex<Vec<Instance>>,
}

/// An instance and the store that it lives in.
struct Instance {
    store: Store<Guest>,
    proxy: Proxy,
}

/// What an instance may use.
struct Guest {
    table: ResourceTable,
    http: WasiHttpCtx,
    hooks: CallsNobody,
    memory: MemoryLimiter,
}

/// A component that can't send requests. It has no function for it; this is for wasmtime, which asks.
struct CallsNobody;

impl WasiHttpHooks for CallsNobody {
    fn send_request(
        &mut self,
        _: Request<WasiBody>,
        _: Option<RequestOptions>,
        _: Process,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Process), Error>> + Send> {
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}

/// What goes on with a request or a response after it was handed over.
type Process = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl IoView for Guest {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: &mut self.table,
            hooks: &mut self.hooks,
        }
    }
}

impl HttpGate {
    /// The component's bytes, which other engines run, too.
    pub fn component() -> &'static [u8] {
        COMPONENT.get()
    }

    /// Compiles and links the component, which takes about as long as a second.
    pub fn new(limits: GateLimits) -> Result<Self, EngineError> {
        Self::load(limits).map_err(|error| EngineError::Load {
            reason: format!("{error:#}"),
        })
    }

    fn load(limits: GateLimits) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.wasm_component_model(true);
        config.max_wasm_stack(limits.stack);
        // A call runs on a stack of its own, on which the host's part runs, too.
        config.async_stack_size(limits.stack + HOST_STACK);
        let engine = Engine::new(&config)?;
        let component = Component::new(&engine, COMPONENT.get())?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi_io::add_to_linker_async(&mut linker)?;
        let options = LinkOptions::default();
        http::types::add_to_linker::<Guest, WasiHttp>(
            &mut linker,
            &(&options).into(),
            Guest::http,
        )?;
        Ok(Self {
            template: ProxyPre::new(linker.instantiate_pre(&component)?)?,
            limits,
            spare: Mutex::default(),
        })
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Bytes>) -> Result<Response<Bytes>, EngineError> {
        // Not held while one is made.
        let spare = self.spare().pop();
        let mut instance = match spare {
            Some(instance) => instance,
            None => self.instance().await?,
        };
        let answer = instance
            .answer(request)
            .await
            .map_err(|error| EngineError::Trap {
                reason: format!("{error:#}"),
            })?;
        let mut spare = self.spare();
        if spare.len() < KEPT && instance.store.data().memory.memory <= LARGE {
            spare.push(instance);
        }
        Ok(answer)
    }

    async fn instance(&self) -> Result<Instance, EngineError> {
        let guest = Guest {
            table: ResourceTable::new(),
            http: WasiHttpCtx::new(),
            hooks: CallsNobody,
            memory: MemoryLimiter::new(self.limits.memory),
        };
        let mut store = Store::new(self.template.engine(), guest);
        store.limiter(|guest| &mut guest.memory);
        let proxy = self.template.instantiate_async(&mut store).await;
        let proxy = proxy.map_err(|error| EngineError::Trap {
            reason: format!("{error:#}"),
        })?;
        Ok(Instance { store, proxy })
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the host's part of a call needs of the stack.
const HOST_STACK: usize = 512 << 10;

impl Instance {
    async fn answer(&mut self, request: Request<Bytes>) -> wasmtime::Result<Response<Bytes>> {
        let request = request.map(|body| Full::new(body).map_err(never));
        let (sender, receiver) = oneshot::channel();
        let guest = self.store.data_mut();
        let request = guest.http().new_incoming_request(Scheme::Http, request)?;
        let out = guest.http().new_response_outparam(sender)?;
        let proxy = self.proxy.wasi_http_incoming_handler();
        let handled = proxy.call_handle(&mut self.store, request, out);
        // At the same time: the component waits until what it writes is taken.
        let taken = async {
            let response = receiver.await??;
            let (parts, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(Response::from_parts(parts, body))
        };
        let (handled, taken) = tokio::join!(handled, taken);
        handled?;
        taken
    }
}

/// A body that is there can't fail.
fn never(never: Infallible) -> Error {
    match never {}
}

impl fmt::Debug for HttpGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpGate")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

//! Routes: each is declared once, for the router and for the document.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};

use crate::serve::server::Server;

use super::{Describe, Document, Operation};

/// Routes and what they are.
#[derive(Default)]
pub(in crate::serve::api) struct Api {
    /// What answers requests.
    pub(in crate::serve::api) router: Router<Arc<Server>>,
    /// What describes them, where someone wants to know.
    pub(in crate::serve::api) document: Option<Document>,
}

/// A handler whose arguments and result describe its request.
pub(in crate::serve::api) trait Described<Arguments> {
    /// Adds what there is to say.
    fn describe(&self, operation: &mut Operation<'_>);
}

macro_rules! described {
    ($($argument:ident),*) => {
        impl<F, Reply, $($argument),*> Described<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Reply,
            Reply: Future<Output: Describe>,
            $($argument: Describe,)*
        {
            fn describe(&self, operation: &mut Operation<'_>) {
                $($argument::describe(operation);)*
                Reply::Output::describe(operation);
            }
        }
    };
}

described!();
described!(A1);
described!(A1, A2);
described!(A1, A2, A3);
described!(A1, A2, A3, A4);
described!(A1, A2, A3, A4, A5);
described!(A1, A2, A3, A4, A5, A6);

impl Api {
    /// Routes that are to be described.
    pub(in crate::serve::api) fn to_describe() -> Self {
        Self { document: Some(Document::default()), ..Self::default() }
    }

    pub(in crate::serve::api) fn get<H, T, A>(self, path: &str, what: &str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>> + Described<A>,
        T: 'static,
    {
        self.on(MethodFilter::GET, "get", path, what, handler)
    }

    pub(in crate::serve::api) fn post<H, T, A>(self, path: &str, what: &str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>> + Described<A>,
        T: 'static,
    {
        self.on(MethodFilter::POST, "post", path, what, handler)
    }

    pub(in crate::serve::api) fn delete<H, T, A>(self, path: &str, what: &str, handler: H) -> Self
    where
        H: Handler<T, Arc<Server>> + Described<A>,
        T: 'static,
    {
        self.on(MethodFilter::DELETE, "delete", path, what, handler)
    }

    fn on<H, T, A>(
        mut self,
        filter: MethodFilter,
        method: &'static str,
        path: &str,
        what: &str,
        handler: H,
    ) -> Self
    where
        H: Handler<T, Arc<Server>> + Described<A>,
        T: 'static,
    {
        if let Some(document) = &mut self.document {
            document.add(method, path, what, |operation| handler.describe(operation));
        }
        self.router = self.router.route(path, on(filter, handler));
        self
    }
}
